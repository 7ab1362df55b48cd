-- The table `wrk` and what stands behind it, in the words of wrk and wrk2.
--
-- The chunk is given the functions and values of the host, and returns the functions by which the
-- host calls the script. It runs once in each state, before the script. Threads, addresses and
-- figures are userdata, as scripts expect, whose metatables are written here: so an error of the
-- script is raised as a text with the script's own line.

local host = ...

local type, pairs, tostring, error, getmetatable = type, pairs, tostring, error, getmetatable
local pcall, rawset, setmetatable = pcall, rawset, setmetatable
local concat = table.concat

-- The C library looks where stdout leads when it first prints. A live view leads it elsewhere
-- meanwhile; lines are printed as on the terminal all the same.
if host.stdout_is_terminal then
   io.stdout:setvbuf("line")
end

-- Where a report is on stdout that a program reads, whatever the script prints goes to stderr.
if host.prints_to_stderr then
   local stderr = io.stderr
   io.stdout = stderr
   io.output(stderr)
   function print(...)
      local texts = { ... }
      for i = 1, select("#", ...) do
         texts[i] = tostring((select(i, ...)))
      end
      stderr:write(concat(texts, "\t"), "\n")
   end
end

-- Whether the load has begun in this state.
local has_begun = false

-- A run whose process ends has no report, and leaves a terminal as it is while keys are read.
if not host.may_exit then
   local exit = os.exit
   function os.exit(...)
      if has_begun then
         error("os.exit() can't end a run; call wrk.thread:stop() in each thread", 2)
      end
      exit(...)
   end
end

-- Refuses an argument of a kind that a function can't take, in the words of Lua's libraries. The level
-- is that of `error`, as it counts in the function that refuses.
local function refuse(place, name, expected, value, level)
   local text = "bad argument #%d to '%s' (%s expected, got %s)"
   error(text:format(place, name, expected, type(value)), level + 1)
end

-- What stands for a text wherever Lua takes one.
local is_text = { string = true, number = true }

-- Addresses: a userdata each, and what it stands for.

local texts = setmetatable({}, { __mode = "k" })
local any_address = newproxy(true)
getmetatable(any_address).__tostring = function(address)
   return texts[address]
end

local function new_address(text)
   local address = newproxy(any_address)
   texts[address] = text
   return address
end

local function address_text(address, place, name, level)
   local text = texts[address]
   if not text then
      refuse(place, name, "wrk.addr", address, level + 1)
   end
   return text
end

-- Threads. An unknown field reads as its own name, as it does in wrk.

local cells = setmetatable({}, { __mode = "k" })
local any_thread = newproxy(true)
local thread_meta = getmetatable(any_thread)
local methods = {}

local function new_thread(cell)
   local thread = newproxy(any_thread)
   cells[thread] = cell
   return thread
end

local function cell_of(thread, name)
   local cell = cells[thread]
   if not cell then
      refuse(1, name, "wrk.thread", thread, 3)
   end
   return cell
end

local function global_name(name, method)
   if not is_text[type(name)] then
      refuse(1, method, "string", name, 3)
   end
   return tostring(name)
end

function methods:get(name)
   local cell = cell_of(self, "get")
   local problem, value = cell.get(global_name(name, "get"))
   if problem then
      error(problem, 2)
   end
   return value
end

function methods:set(name, value)
   local cell = cell_of(self, "set")
   local problem = cell.set(global_name(name, "set"), value)
   if problem then
      error(problem, 2)
   end
end

function methods:stop()
   local cell = cell_of(self, "stop")
   cell.stop()
end

function thread_meta:__index(key)
   if key == "addr" then
      local text = cells[self].address()
      return text and new_address(text)
   end
   return methods[key] or key
end

function thread_meta:__newindex(key, value)
   if key ~= "addr" then
      error(("cannot set '%s' on thread"):format(type(value)), 2)
   end
   cells[self].set_address(address_text(value, 3, "__newindex", 2), true)
end

-- Figures of a run. wrk calls them for their distinct values, wrk2 indexes their samples.

local all_figures = setmetatable({}, { __mode = "k" })

local function percentile(object, percent)
   local figures = all_figures[object]
   if not figures then
      refuse(1, "percentile", "wrk.stats", object, 2)
   end
   local number = tonumber(percent)
   if not number then
      refuse(1, "percentile", "number", percent, 2)
   end
   return figures.percentile(number)
end

local function new_figures(figures)
   local object = newproxy(true)
   all_figures[object] = figures
   local meta = getmetatable(object)
   local fields = {
      min = figures.min,
      max = figures.max,
      mean = figures.mean,
      stdev = figures.stdev,
      percentile = percentile,
   }

   function meta:__index(key)
      if figures.sample and type(key) == "number" then
         return figures.sample(key)
      end
      return fields[key] or tostring(key)
   end

   function meta:__len()
      return figures.length
   end

   if figures.distinct then
      function meta:__call(place)
         return figures.distinct(tonumber(place) or 0)
      end
   end

   return object
end

-- The table itself.

wrk = {
   scheme = host.scheme,
   host = host.host,
   port = host.port,
   method = host.method,
   path = host.path,
   headers = host.headers,
   body = host.body,
   time_us = host.time_us,
}
local wrk = wrk
package.loaded.wrk = wrk

-- `wrk.name` is what the next requests are called in reports. Only texts are names: a script may keep
-- something else there, as in wrk.
local named = {}

setmetatable(wrk, {
   -- A table, as scripts ask for fields that are not there at every request.
   __index = named,
   __newindex = function(self, key, value)
      if key ~= "name" or not (value == nil or is_text[type(value)]) then
         rawset(self, key, value)
         return
      end
      local problem = host.set_name(value and tostring(value))
      if problem then
         error(problem, 2)
      end
      named.name = value
   end,
})

-- The table `loadline`: metrics of k6's kinds that a script counts by itself. They count what threads do:
-- the script's own state, in which `setup` and `done` run, has no part in the load.
loadline = {}

-- Where there is no thread, and so nobody to count, methods still check what they are given.
local is_thread = false

local function number_of(kind, value)
   if kind == "rate" and type(value) == "boolean" then
      return value and 1 or 0
   end
   if kind == "counter" and value == nil then
      return 1
   end
   local is_finite = type(value) == "number" and value - value == 0
   if not is_finite then
      local text = "the value of a %s is a %s, not %s"
      local expected = kind == "rate" and "boolean or a finite number" or "finite number"
      error(text:format(kind, expected, tostring(value)), 3)
   end
   return value
end

local function check_tags(tags, level)
   local is_good = type(tags) == "table"
   for tag, value in pairs(is_good and tags or {}) do
      is_good = is_good and is_text[type(tag)] and is_text[type(value)]
   end
   if not is_good then
      error("the tags of a value are a table of texts, such as { page = \"home\" }", level + 1)
   end
end

for _, kind in ipairs({ "trend", "counter", "rate", "gauge" }) do
   loadline[kind] = function(name, unit)
      if not is_text[type(name)] then
         refuse(1, kind, "string", name, 2)
      elseif unit ~= nil and not is_text[type(unit)] then
         refuse(2, kind, "string", unit, 2)
      end
      local function defined(tags, level)
         local add, problem = host.define_metric(kind, tostring(name), unit, tags)
         if problem then
            error(problem, level + 1)
         end
         return add
      end
      local plain
      local metric = {}
      function metric:add(value, tags)
         local number = number_of(kind, value)
         if not is_thread then
            error("a metric counts what threads do: add to it in init(), request(), response() or delay()", 2)
         elseif tags ~= nil then
            check_tags(tags, 2)
            defined(tags, 2)(number)
         else
            plain = plain or defined(nil, 2)
            plain(number)
         end
      end
      metric.set = kind == "gauge" and metric.add or nil
      plain = defined(nil, 2)
      return metric
   end
end

function wrk.lookup(name, service)
   for place, text in ipairs({ name or false, service or false }) do
      if not is_text[type(text)] then
         refuse(place, "lookup", "string", text or nil, 2)
      end
   end
   local found = host.lookup(name, service)
   for i = 1, #found do
      found[i] = new_address(found[i])
   end
   return found
end

function wrk.connect(address)
   return host.connect(address_text(address, 1, "connect", 2))
end

function wrk.resolve(name, service)
   local answering = {}
   for _, address in ipairs(wrk.lookup(name, service)) do
      if wrk.connect(address) then
         answering[#answering + 1] = address
      end
   end
   wrk.addrs = answering
end

function wrk.setup(thread)
   if type(setup) == "function" then
      setup(thread)
   end
end

local lines = {}

-- Names the first of these that no request can be written of, as an argument of `wrk.format`.
local function refuse_parts(method, path, headers, body)
   if not is_text[type(method)] then
      refuse(1, "format", "string", method, 3)
   elseif not is_text[type(path)] then
      refuse(2, "format", "string", path, 3)
   elseif type(headers) ~= "table" then
      refuse(3, "format", "table", headers, 3)
   else
      refuse(4, "format", "string", body, 3)
   end
end

function wrk.format(method, path, headers, body)
   method = method or wrk.method
   path = path or wrk.path
   headers = headers or wrk.headers
   body = body or wrk.body
   local has_head = is_text[type(method)] and is_text[type(path)] and type(headers) == "table"
   if not has_head or (body and not is_text[type(body)]) then
      refuse_parts(method, path, headers, body)
   end
   headers.Host = headers.Host or wrk.headers.Host
   headers["Content-Length"] = body and #tostring(body)
   lines[1] = method .. " " .. path .. " HTTP/1.1"
   local count = 1
   for name, value in pairs(headers) do
      count = count + 1
      lines[count] = name .. ": " .. tostring(value)
   end
   lines[count + 1] = ""
   lines[count + 2] = body or ""
   return concat(lines, "\r\n", 1, count + 2)
end

function wrk.init(args)
   local headers = wrk.headers
   if not headers.Host then
      local name = wrk.host:find(":", 1, true) and "[" .. wrk.host .. "]" or wrk.host
      headers.Host = wrk.port and name .. ":" .. wrk.port or name
   end
   if type(init) == "function" then
      init(args)
   end
   local request = wrk.format()
   function wrk.request()
      return request
   end
end

-- How the host calls the script. Globals are looked up at each call: a script may replace them
-- while the run lasts.

local entries = {}

function entries.run(file)
   file()
end

function entries.is_function(name)
   return type(_G[name]) == "function"
end

function entries.set_thread(cell)
   is_thread = true
   wrk.thread = new_thread(cell)
end

function entries.resolve(name, service)
   wrk.resolve(name, service)
   return wrk.addrs and #wrk.addrs or 0
end

-- Each thread begins with the first address. That is the script's choice if it looked for
-- addresses itself.
local resolve = wrk.resolve

function entries.setup(cell)
   local first = wrk.addrs and wrk.addrs[1]
   if first then
      cell.set_address(address_text(first, 1, "setup", 1), wrk.resolve ~= resolve)
   end
   wrk.setup(new_thread(cell))
end

function entries.init(args)
   wrk.init(args)
end

function entries.begin()
   has_begun = true
end

function entries.done(summary, latency, rates)
   if type(done) == "function" then
      done(summary, new_figures(latency), new_figures(rates))
   end
end

function entries.flush()
   io.stdout:flush()
end

-- What a script throws comes to the host as a text: to make one of a value is the script's business
-- again (`__tostring`), and may throw as well. The host's own errors stay what they are.
local function thrown_text(thrown)
   local done, text = pcall(tostring, thrown)
   if done and type(text) == "string" then
      return text
   end
   return "(error object is a " .. type(thrown) .. " value)"
end

local function throw(thrown)
   error(host.is_own(thrown) and thrown or thrown_text(thrown), 0)
end

local guarded = {}
for name, entry in pairs(entries) do
   guarded[name] = function(first, second, third)
      local done, result = pcall(entry, first, second, third)
      if done then
         return result
      end
      throw(result)
   end
end

-- These three are called for each request, so that nothing stands between `pcall` and the script.

function guarded.request()
   local request = request
   if type(request) ~= "function" then
      request = wrk.request
   end
   local done, text = pcall(request)
   if done then
      return text
   end
   throw(text)
end

function guarded.delay()
   if type(delay) ~= "function" then
      return 0
   end
   local done, milliseconds = pcall(delay)
   if done then
      return tonumber(milliseconds) or 0
   end
   throw(milliseconds)
end

-- The headers of an answer that repeats those of the one before are copied here from its table,
-- which is less work than to hand them over again. A script owns what it is given.
local pattern = {}

function guarded.respond(status, body, fresh)
   pattern = fresh or pattern
   local response = response
   if type(response) ~= "function" then
      return
   end
   local headers = {}
   for name, value in pairs(pattern) do
      headers[name] = value
   end
   local done, thrown = pcall(response, status, headers, body)
   if not done then
      throw(thrown)
   end
end

return guarded
