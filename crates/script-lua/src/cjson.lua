-- The library `cjson`, with the words and habits of lua-cjson 2.1, for scripts that read or write
-- JSON (RFC 8259). It is written in Lua, so that no mistake in it reaches further than the script.
--
-- The chunk is given what stands for JSON's null, and returns `cjson` and `cjson.safe`.

local null = ...

local type, pairs, tonumber, tostring, error, pcall = type, pairs, tonumber, tostring, error, pcall
local floor, huge = math.floor, math.huge
local byte, char, find, format, gsub, sub =
   string.byte, string.char, string.find, string.format, string.gsub, string.sub
local concat = table.concat

local DEEPEST = 1000

-- Writing.

local escapes = {
   ['"'] = '\\"', ["\\"] = "\\\\", ["/"] = "\\/", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n",
   ["\r"] = "\\r", ["\t"] = "\\t",
}
for code = 0, 31 do
   escapes[char(code)] = escapes[char(code)] or format("\\u%04x", code)
end
escapes["\127"] = "\\u007f"

local function quoted(text)
   return '"' .. gsub(text, '[%z\1-\31\\"/\127]', escapes) .. '"'
end

-- What can't be written is thrown as a text without a place, which the library's functions add.
local function refuse(kind, reason)
   error(("Cannot serialise %s: %s"):format(kind, reason), 0)
end

local function number_text(settings, number)
   if number ~= number or number == huge or number == -huge then
      local how = settings.encode_invalid_numbers
      if not how then
         refuse("number", "must not be NaN or Inf")
      elseif how == "null" then
         return "null"
      end
      return number ~= number and "nan" or number > 0 and "inf" or "-inf"
   end
   return format(settings.number_format, number)
end

-- How long an array a table is; nothing if it is an object. An empty table is an object.
local function array_length(settings, value)
   local largest, items = 0, 0
   for key in pairs(value) do
      if type(key) ~= "number" or key < 1 or floor(key) ~= key then
         return nil
      end
      largest = key > largest and key or largest
      items = items + 1
   end
   local ratio = settings.sparse_ratio
   if ratio > 0 and largest > items * ratio and largest > settings.sparse_safe then
      if not settings.sparse_convert then
         refuse("table", "excessively sparse array")
      end
      return nil
   end
   return largest > 0 and largest or nil
end

local write

local function write_array(out, settings, value, length, depth)
   out[#out + 1] = "["
   for place = 1, length do
      if place > 1 then
         out[#out + 1] = ","
      end
      write(out, settings, value[place], depth)
   end
   out[#out + 1] = "]"
end

local function write_object(out, settings, value, depth)
   local opening = "{"
   for key, field in pairs(value) do
      if type(key) == "number" then
         key = '"' .. number_text(settings, key) .. '"'
      elseif type(key) == "string" then
         key = quoted(key)
      else
         refuse("table", "table key must be a number or string")
      end
      out[#out + 1] = opening .. key .. ":"
      write(out, settings, field, depth)
      opening = ","
   end
   out[#out + 1] = opening == "{" and "{}" or "}"
end

function write(out, settings, value, depth)
   local kind = type(value)
   if kind == "string" then
      out[#out + 1] = quoted(value)
   elseif kind == "number" then
      out[#out + 1] = number_text(settings, value)
   elseif kind == "boolean" then
      out[#out + 1] = tostring(value)
   elseif value == nil or value == null then
      out[#out + 1] = "null"
   elseif kind == "table" then
      depth = depth + 1
      if depth > settings.encode_depth then
         error(("Cannot serialise, excessive depth (%d)"):format(depth), 0)
      end
      local length = array_length(settings, value)
      if length then
         write_array(out, settings, value, length, depth)
      else
         write_object(out, settings, value, depth)
      end
   else
      refuse(kind, "type not supported")
   end
end

-- Reading. Places are counted from 1.

local function broken(text, place, wanted, found)
   if not found then
      found = ({
         [""] = "T_END", ["{"] = "T_OBJ_BEGIN", ["}"] = "T_OBJ_END", ["["] = "T_ARR_BEGIN",
         ["]"] = "T_ARR_END", [":"] = "T_COLON", [","] = "T_COMMA", ['"'] = "T_STRING",
      })[sub(text, place, place)]
      if not found then
         local word = find(text, "^true", place) or find(text, "^false", place)
         found = word and "T_BOOLEAN" or find(text, "^null", place) and "T_NULL"
            or find(text, "^%-?%d", place) and "T_NUMBER" or "invalid token"
      end
   end
   error(("Expected %s but found %s at character %d"):format(wanted, found, place), 0)
end

local function utf8(code)
   if code < 0x80 then
      return char(code)
   elseif code < 0x800 then
      return char(0xc0 + floor(code / 0x40), 0x80 + code % 0x40)
   elseif code < 0x10000 then
      return char(0xe0 + floor(code / 0x1000), 0x80 + floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
   end
   return char(0xf0 + floor(code / 0x40000), 0x80 + floor(code / 0x1000) % 0x40,
      0x80 + floor(code / 0x40) % 0x40, 0x80 + code % 0x40)
end

-- The character that the escape after a backslash and `u` stands for, and the place after it;
-- nothing if it stands for none.
local function unicode(text, place)
   local high = tonumber(text:match("^%x%x%x%x", place) or "", 16)
   if not high or (high >= 0xdc00 and high < 0xe000) then
      return nil
   elseif high < 0xd800 or high >= 0xe000 then
      return utf8(high), place + 4
   end
   local low = tonumber(text:match("^\\u(%x%x%x%x)", place + 4) or "", 16)
   if not low or low < 0xdc00 or low >= 0xe000 then
      return nil
   end
   return utf8(0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00)), place + 10
end

local unescaped = {
   ['"'] = '"', ["\\"] = "\\", ["/"] = "/", b = "\b", f = "\f", n = "\n", r = "\r", t = "\t",
}

-- The text that begins behind a quotation mark, and the place behind the one that ends it.
local function read_text(text, place, wanted)
   local begin, out = place, nil
   while true do
      local stop = find(text, '["\\%z]', place)
      local mark = stop and byte(text, stop)
      if mark == 34 then
         local rest = sub(text, place, stop - 1)
         return out and out .. rest or rest, stop + 1
      elseif mark ~= 92 then
         broken(text, begin - 1, wanted, "unexpected end of string")
      end
      local letter = sub(text, stop + 1, stop + 1)
      local meant, behind = unescaped[letter], stop + 2
      if letter == "u" then
         meant, behind = unicode(text, stop + 2)
         if not meant then
            broken(text, stop, wanted, "invalid unicode escape code")
         end
      elseif not meant then
         broken(text, stop, wanted, "invalid escape code")
      end
      out = (out or "") .. sub(text, place, stop - 1) .. meant
      place = behind
   end
end

local special_numbers = { ["nan"] = 0 / 0, ["inf"] = huge, ["infinity"] = huge }

-- A number as C's `strtod` reads it, and the place after it; nothing if there is none.
local function read_number(settings, text, place)
   local _, last = find(text, "^[+-]?0[xX]%x+", place)
   if not last then
      _, last = find(text, "^[+-]?%d+%.?%d*", place)
      if last then
         local _, exponent = find(text, "^[eE][+-]?%d+", last + 1)
         last = exponent or last
      end
   end
   local is_strict = not settings.decode_invalid_numbers
   if last then
      local digits = sub(text, place, last)
      if is_strict and (find(digits, "^%+") or find(digits, "^%-?0[%dxX]")) then
         return nil
      end
      return tonumber(digits), last + 1
   end
   local sign, word = text:match("^([+-]?)(%a+)", place)
   local number = word and special_numbers[word:lower()]
   if not number or is_strict then
      return nil
   end
   return sign == "-" and -number or number, place + #sign + #word
end

local read

local function behind_blanks(text, place)
   return (select(2, find(text, "^[ \t\r\n]*", place))) + 1
end

local function deeper(settings, place, depth)
   depth = depth + 1
   if depth > settings.decode_depth then
      error(("Found too many nested data structures (%d) at character %d"):format(depth, place), 0)
   end
   return depth
end

local function read_object(settings, text, place, depth)
   depth = deeper(settings, place - 1, depth)
   local object = {}
   place = behind_blanks(text, place)
   if byte(text, place) == 125 then
      return object, place + 1
   end
   while true do
      if byte(text, place) ~= 34 then
         broken(text, place, "object key string")
      end
      local key
      key, place = read_text(text, place + 1, "object key string")
      place = behind_blanks(text, place)
      if byte(text, place) ~= 58 then
         broken(text, place, "colon")
      end
      object[key], place = read(settings, text, behind_blanks(text, place + 1), depth)
      place = behind_blanks(text, place)
      local mark = byte(text, place)
      if mark == 125 then
         return object, place + 1
      elseif mark ~= 44 then
         broken(text, place, "comma or object end")
      end
      place = behind_blanks(text, place + 1)
   end
end

local function read_array(settings, text, place, depth)
   depth = deeper(settings, place - 1, depth)
   local array, count = {}, 0
   place = behind_blanks(text, place)
   if byte(text, place) == 93 then
      return array, place + 1
   end
   while true do
      count = count + 1
      array[count], place = read(settings, text, place, depth)
      place = behind_blanks(text, place)
      local mark = byte(text, place)
      if mark == 93 then
         return array, place + 1
      elseif mark ~= 44 then
         broken(text, place, "comma or array end")
      end
      place = behind_blanks(text, place + 1)
   end
end

function read(settings, text, place, depth)
   local mark = byte(text, place)
   if mark == 34 then
      return read_text(text, place + 1, "value")
   elseif mark == 123 then
      return read_object(settings, text, place + 1, depth)
   elseif mark == 91 then
      return read_array(settings, text, place + 1, depth)
   elseif find(text, "^true", place) then
      return true, place + 4
   elseif find(text, "^false", place) then
      return false, place + 5
   elseif find(text, "^null", place) then
      return null, place + 4
   end
   local number, behind = read_number(settings, text, place)
   if number then
      return number, behind
   end
   local is_number = find(text, "^%-", place) or find(text, "^%d", place)
   broken(text, place, "value", is_number and "invalid number" or nil)
end

-- The library's functions.

local function text_argument(value, name)
   if type(value) ~= "string" and type(value) ~= "number" then
      local text = "bad argument #1 to '%s' (string expected, got %s)"
      error(text:format(name, value == nil and "no value" or type(value)), 0)
   end
   return tostring(value)
end

local function encode(settings, ...)
   if select("#", ...) ~= 1 then
      error("bad argument #1 to 'encode' (expected 1 argument)", 0)
   end
   local out = {}
   write(out, settings, (...), 0)
   return concat(out)
end

local function decode(settings, value)
   local text = text_argument(value, "decode")
   local made, place = read(settings, text, behind_blanks(text, 1), 0)
   place = behind_blanks(text, place)
   if place <= #text then
      broken(text, place, "the end")
   end
   return made
end

-- Functions that set what their names say, and return what is set.
local function add_settings(library, settings)
   local function keep(name, value, lowest, highest, key)
      if value ~= nil then
         local number = tonumber(value)
         if not number or number < lowest or number > highest then
            local text = "bad argument #1 to '%s' (expected integer between %d and %d)"
            error(text:format(name, lowest, highest), 3)
         end
         settings[key] = floor(number)
      end
      return settings[key]
   end
   function library.encode_max_depth(depth)
      return (keep("encode_max_depth", depth, 1, 2 ^ 31 - 1, "encode_depth"))
   end
   function library.decode_max_depth(depth)
      return (keep("decode_max_depth", depth, 1, 2 ^ 31 - 1, "decode_depth"))
   end
   function library.encode_number_precision(digits)
      local set = keep("encode_number_precision", digits, 1, 17, "precision")
      settings.number_format = "%." .. set .. "g"
      return set
   end
   function library.encode_sparse_array(convert, ratio, safe)
      if convert ~= nil then
         settings.sparse_convert = convert
      end
      keep("encode_sparse_array", ratio, 0, 2 ^ 31 - 1, "sparse_ratio")
      keep("encode_sparse_array", safe, 0, 2 ^ 31 - 1, "sparse_safe")
      return settings.sparse_convert, settings.sparse_ratio, settings.sparse_safe
   end
   function library.encode_invalid_numbers(how)
      if how ~= nil then
         settings.encode_invalid_numbers = how
      end
      return settings.encode_invalid_numbers
   end
   function library.decode_invalid_numbers(how)
      if how ~= nil then
         settings.decode_invalid_numbers = how
      end
      return settings.decode_invalid_numbers
   end
   function library.encode_keep_buffer(keeps)
      if keeps ~= nil then
         settings.keeps_buffer = keeps
      end
      return settings.keeps_buffer
   end
end

local function library(is_safe)
   local settings = {
      encode_depth = DEEPEST,
      decode_depth = DEEPEST,
      precision = 14,
      number_format = "%.14g",
      sparse_convert = false,
      sparse_ratio = 2,
      sparse_safe = 10,
      encode_invalid_numbers = false,
      decode_invalid_numbers = true,
      keeps_buffer = true,
   }
   local functions = { _NAME = "cjson", _VERSION = "2.1.0", null = null }
   -- What is thrown gets the place of the script's own call.
   for name, convert in pairs({ encode = encode, decode = decode }) do
      functions[name] = function(...)
         local done, result = pcall(convert, settings, ...)
         if done then
            return result
         elseif is_safe then
            return nil, result
         end
         error(result, 2)
      end
   end
   function functions.new()
      return library(is_safe)
   end
   add_settings(functions, settings)
   return functions
end

return library(false), library(true)
