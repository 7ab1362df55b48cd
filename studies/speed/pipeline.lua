-- Sixteen requests are sent together before their answers are waited for.
init = function(args)
  local batch = {}
  for i = 1, 16 do batch[i] = wrk.format("GET", "/") end
  all = table.concat(batch)
end

request = function() return all end
