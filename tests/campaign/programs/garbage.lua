-- A program that allocates and collects nearly all the time: trees, closures and strings that die young, beside some
-- that live on. One argument: rounds.
local function tree(depth)
    if depth == 0 then
        return { false, false }
    end
    return { tree(depth - 1), tree(depth - 1) }
end

local function count(node)
    return 1 + (node[1] and count(node[1]) + count(node[2]) or 0)
end

local kept, sum = {}, 0
for round = 1, tonumber(arg[1]) do
    local all = tree(12)
    sum = sum + count(all)
    for i = 1, 3000 do
        local word = "word " .. (round * 7919 + i * 31) % 5000
        local add = function(n) return n + #word end
        kept[i % 512 + 1] = { word, add(i), all[i % 2 + 1] }
        sum = sum + kept[i % 512 + 1][2]
    end
end
print(sum)
