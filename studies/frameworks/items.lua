-- Eight of ten requests read one item, one reads the first page of the list, one adds an item.
-- `wrk -s items.lua URL` takes it as well.

local threads = 0

function setup(thread)
   threads = threads + 1
   thread:set("number", threads)
end

function init(args)
   math.randomseed(number or 1)
end

local item = '{"name":"new","price":7,"note":"added"}'
local json = { ["Content-Type"] = "application/json" }

function request()
   local dice = math.random(10)
   if dice == 1 then
      return wrk.format("POST", "/items", json, item)
   elseif dice == 2 then
      return wrk.format("GET", "/items")
   end
   return wrk.format("GET", "/items/" .. math.random(10000))
end
