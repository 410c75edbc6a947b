-- A deterministic benchmark of the Lua interpreter: calls, tables, strings,
-- closures, coroutines, metatables, errors and the collector, each with a
-- checksum on standard output. Usage: lua bench.lua SCALE
--
-- Lua seeds its string hash from addresses and the clock, so the order of
-- pairs() differs from run to run; every sum over pairs() here is commutative.

local scale = tonumber(arg[1]) or 10

-- The benchmark has its own generator: math.random differs between versions.
local seed = 42
local function random(n)
  seed = (seed * 16807) % 2147483647
  return seed % n + 1
end

local function report(name, value)
  io.write(string.format("%-12s %s\n", name, tostring(value)))
end

local function fib(n)
  if n < 2 then return n end
  return fib(n - 1) + fib(n - 2)
end

local function calls()
  local total = 0
  for _ = 1, scale do total = total + fib(20) end
  return total
end

local function sieve()
  local count = 0
  for _ = 1, scale do
    local composite = {}
    for i = 2, 8000 do
      if not composite[i] then
        count = count + 1
        for j = i * i, 8000, i do composite[j] = true end
      end
    end
  end
  return count
end

local function sorting()
  local sum = 0
  for _ = 1, scale do
    local t = {}
    for i = 1, 2000 do t[i] = random(1000000) end
    table.sort(t)
    table.sort(t, function(a, b) return a > b end)
    for i = 1, #t do sum = (sum + t[i] * i) % 1000000007 end
    for _ = 1, 50 do table.insert(t, random(#t), random(100)) end
    for _ = 1, 50 do sum = sum + table.remove(t, random(#t)) end
  end
  return sum
end

local function strings()
  local length, hits, hash = 0, 0, 0
  for i = 1, scale * 20 do
    local parts = {}
    for j = 1, 40 do
      parts[#parts + 1] = string.format("%d:%x:%5.2f", i, j * 2654435761 % 4294967296, j / 7)
    end
    local line = table.concat(parts, ",")
    length = length + #line
    for word in line:gmatch("%x+") do hits = hits + #word end
    line = line:gsub("(%d+):", "<%1>"):upper():reverse()
    if line:find(">42<", 1, true) then hits = hits + 1 end
    for k = 1, #line, 7 do hash = (hash * 31 + line:byte(k)) % 1000000007 end
  end
  return length .. " " .. hits .. " " .. hash
end

local function closures()
  local function counter(step)
    local n = 0
    return function(...)
      n = n + step + select("#", ...)
      return n
    end
  end
  local sum = 0
  for i = 1, scale * 100 do
    local c = counter(i % 5)
    for j = 1, 20 do sum = (sum + c(i, j, j)) % 1000000007 end
  end
  return sum
end

local Account = {}
Account.__index = Account
Account.__add = function(a, b) return Account.new(a.balance + b.balance) end
Account.__lt = function(a, b) return a.balance < b.balance end
Account.__eq = function(a, b) return a.balance == b.balance end
Account.__len = function(a) return a.balance % 100 end
function Account.new(balance) return setmetatable({ balance = balance }, Account) end
function Account:deposit(amount) self.balance = self.balance + amount return self end

local function objects()
  local total, comparisons = Account.new(0), 0
  for i = 1, scale * 500 do
    local a = Account.new(i):deposit(random(50))
    local b = Account.new(random(1000))
    if a < b then comparisons = comparisons + 1 end
    total = total + a + b
    comparisons = comparisons + #a
  end
  return total.balance .. " " .. comparisons
end

local function coroutines()
  local function tree(depth)
    if depth == 0 then return end
    tree(depth - 1)
    coroutine.yield(depth)
    tree(depth - 1)
  end
  local sum = 0
  for i = 1, scale do
    for depth in coroutine.wrap(function() tree(9) end) do sum = sum + depth * i end
  end
  return sum
end

local function errors()
  local caught, depth_sum = 0, 0
  local function fail(depth)
    if depth == 0 then error({ code = random(9) }) end
    return fail(depth - 1) + 1
  end
  for i = 1, scale * 100 do
    local ok, why = pcall(fail, i % 20)
    if not ok then caught = caught + why.code end
    ok, why = xpcall(function() return nil + i end, function(message)
      -- The message begins with the script's path, which differs from place to place.
      return #message:match("[^/]*$")
    end)
    if not ok then depth_sum = depth_sum + why end
    ok = pcall(string.rep)
    if not ok then caught = caught + 1 end
    do
      local closing <close> = setmetatable({}, { __close = function() caught = caught + 1 end })
      _ = closing
    end
  end
  return caught .. " " .. depth_sum
end

local function garbage()
  local weak = setmetatable({}, { __mode = "v" })
  local finalized = 0
  local kept = {}
  for i = 1, scale * 400 do
    local node = { i, { i + 1 }, name = "node" .. i }
    weak[i % 97] = node
    if i % 50 == 0 then
      kept[#kept + 1] = setmetatable(node, { __gc = function() finalized = finalized + 1 end })
    end
    if #kept > 64 then kept = {} end
  end
  local expected = scale * 400 // 50
  kept, weak = nil, nil
  collectgarbage()
  collectgarbage()
  return finalized == expected and "all finalized" or (finalized .. " of " .. expected)
end

local function compile()
  local sum = 0
  for i = 1, scale * 10 do
    local source = {}
    for j = 1, 20 do
      source[j] = string.format("local v%d = %d * %d + (%d %% 7)", j, i, j, i + j)
    end
    source[#source + 1] = "return v1 + v10 + v20"
    sum = sum + load(table.concat(source, "\n"))()
  end
  return sum
end

report("calls", calls())
report("sieve", sieve())
report("sorting", sorting())
report("strings", strings())
report("closures", closures())
report("objects", objects())
report("coroutines", coroutines())
report("errors", errors())
report("garbage", garbage())
report("compile", compile())
