-- What scripts find beside LuaJIT's own libraries, and what they don't find of those.
--
-- Whatever reaches any memory of the program is left out, as a slip in a script could change what
-- is measured without a trace: C modules, `ffi` and most of `debug`. Who asks for it is told so.
-- What the scripts of wrk's users need most is written here instead: `socket` as far as it tells
-- the time and sleeps, and `cjson`.
--
-- The chunk is given the functions and values of the host, and the library `cjson`.

local host, cjson, safe_cjson = ...

local error, type, tonumber, tostring, select = error, type, tonumber, tostring, select

-- A sentence by which the host tells a refusal of ours from a mistake of the script.
local function refusal(what, why)
   return what .. " " .. host.refusal .. ": " .. why
end

local function refuse(what, why, level)
   error(refusal(what, why), level + 1)
end

-- `debug`, as far as it only looks.

local function bad_argument(place, name, expected, value, level)
   local got = value == nil and "no value" or type(value)
   local text = "bad argument #%d to '%s' (%s expected, got %s)"
   error(text:format(place, name, expected, got), level + 1)
end

local library = {}

function library.traceback(...)
   local thread, message, level
   local given = select("#", ...)
   if type((...)) == "thread" then
      thread, message, level = ...
      given = given - 1
   else
      message, level = ...
   end
   if given > 0 and type(message) ~= "string" and type(message) ~= "number" then
      return message
   end
   local number = level == nil and 1 or tonumber(level)
   if not number then
      bad_argument(thread and 3 or 2, "traceback", "number", level, 2)
   end
   -- One level is this function. The stack of another coroutine can't be seen from here.
   local stack = "stack traceback:"
   if not thread and number >= 0 then
      stack = host.traceback(number + 1)
   end
   return message and message .. "\n" .. stack or stack
end

function library.getinfo(...)
   local subject, what = ...
   if type(subject) == "thread" then
      subject, what = select(2, ...)
      if type(subject) == "number" then
         return nil
      end
   end
   local level = type(subject) ~= "function" and tonumber(subject)
   if type(subject) ~= "function" and not level then
      bad_argument(1, "getinfo", "function or level", subject, 2)
   end
   what = what == nil and "flnSu" or tostring(what)
   -- Level 0 is this function here, and one more there.
   local info = host.getinfo(level and level + 1 or subject, what)
   if info == false then
      error("bad argument #2 to 'getinfo' (invalid option)", 2)
   end
   return info
end

local debug_reaches = "it reaches into the program that measures. There are debug.traceback and "
   .. "debug.getinfo"
for _, name in ipairs({
   "debug", "getfenv", "gethook", "getlocal", "getmetatable", "getregistry", "getupvalue", "setfenv",
   "sethook", "setlocal", "setmetatable", "setupvalue", "upvalueid", "upvaluejoin",
}) do
   library[name] = function()
      refuse("debug." .. name, debug_reaches, 2)
   end
end

debug = library
package.loaded.debug = library

-- Where Debian keeps modules, unless the user says where they are.
if package.path:find("/usr/local/share/lua/5.1/?/init.lua", 1, true) then
   package.path = package.path .. ";/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua"
end
local triplets = { x64 = "x86_64-linux-gnu", arm64 = "aarch64-linux-gnu" }
local triplet = triplets[jit.arch]
if triplet and package.cpath:find("/usr/local/lib/lua/5.1/?.so", 1, true) then
   package.cpath = package.cpath
      .. ";/usr/lib/" .. triplet .. "/lua/5.1/?.so;/usr/lib/lua/5.1/?.so"
end

-- Modules in C. One that is there is refused, and one that is not is not found, as anywhere.

local c_reaches = "a module in C reaches into the program that measures. Modules in Lua are found"
local open = io.open

local function c_module(name)
   local path = name:gsub("%.", "/")
   for template in package.cpath:gmatch("[^;]+") do
      local place = template:gsub("%?", (path:gsub("%%", "%%%%")))
      local file = template:find("?", 1, true) and open(place)
      if file then
         file:close()
         return place
      end
   end
end

package.loaders[3] = function(name)
   local place = c_module(name)
   if place then
      refuse("module '" .. name .. "' (" .. place .. ")", c_reaches, 3)
   end
   return "\n\tno module in C"
end

function package.loadlib(path)
   return nil, refusal(tostring(path), c_reaches), "absent"
end

package.preload.ffi = function()
   refuse("ffi", "it reaches into the program that measures", 3)
end

-- `socket`, as far as it has nothing to do with the network.

local socket = { _VERSION = "LuaSocket 3.0 (gettime and sleep)", gettime = host.gettime }

function socket.sleep(seconds)
   local number = tonumber(seconds)
   if not number then
      bad_argument(1, "sleep", "number", seconds, 2)
   end
   host.sleep(number)
end

local goes_out = "requests go out by what request() returns. There are socket.gettime and "
   .. "socket.sleep"
for _, name in ipairs({
   "bind", "connect", "connect4", "connect6", "select", "tcp", "tcp4", "tcp6", "udp", "udp4", "udp6",
}) do
   socket[name] = function()
      refuse("socket." .. name, goes_out, 2)
   end
end

for name, module in pairs({
   ["socket"] = socket,
   ["socket.core"] = socket,
   ["cjson"] = cjson,
   ["cjson.safe"] = safe_cjson,
}) do
   package.preload[name] = function()
      return module
   end
end

-- Files that are read, where other processes send the load. They go there with the script, and are found
-- by the names that they have here. What is run is found nowhere else.

local place_of = host.place_of
if place_of then
   local plain_lines, plain_load_file, plain_do_file = io.lines, loadfile, dofile

   function io.open(path, mode, ...)
      if type(path) == "string" and (mode == nil or not tostring(mode):find("[wa+]")) then
         return open(place_of(path) or path, mode, ...)
      end
      return open(path, mode, ...)
   end

   function io.lines(path, ...)
      if type(path) == "string" then
         return plain_lines(place_of(path) or path, ...)
      end
      return plain_lines(path, ...)
   end

   local function load_file(path, ...)
      local place = place_of(path)
      local file = place and open(place, "rb")
      if not file then
         return nil, "cannot open " .. path
      end
      local text = file:read("*a")
      file:close()
      -- The line break of a first line for the shell stays.
      return load((text:gsub("^#[^\n]*", "")), "@" .. path, ...)
   end

   function loadfile(path, ...)
      if type(path) == "string" then
         return load_file(path, ...)
      end
      return plain_load_file(path, ...)
   end

   function dofile(path)
      if type(path) ~= "string" then
         return plain_do_file(path)
      end
      local chunk, problem = load_file(path)
      if not chunk then
         error(problem, 0)
      end
      return chunk()
   end

   local function is_readable(path)
      local place = place_of(path)
      local file = place and open(place)
      return file and file:close()
   end

   package.loaders[2] = function(name)
      local path, missing = name:gsub("%.", "/"):gsub("%%", "%%%%"), ""
      for template in package.path:gmatch("[^;]+") do
         local place = template:gsub("%?", path)
         if is_readable(place) then
            local chunk, problem = load_file(place)
            if not chunk then
               local text = "error loading module '%s' from file '%s':\n\t%s"
               error(text:format(name, place, problem), 0)
            end
            return chunk
         end
         missing = missing .. "\n\tno file '" .. place .. "'"
      end
      return missing
   end
end
