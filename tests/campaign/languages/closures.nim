# Exceptions, stack traces, a garbage collector that scans the stack, closures, iterators, threads.
import std/[tables, algorithm, strutils, sequtils]

type
  Depth = object of CatchableError
    depth: int
  Node = ref object
    left, right: Node
    text: string

proc descend(n: int): int =
  if n == 0:
    raise (ref Depth)(msg: "bottom")
  try:
    result = descend(n - 1) + 1
  except Depth as e:
    raise (ref Depth)(msg: "depth", depth: e.depth + 1)
  finally:
    discard $n

proc make(depth: int): Node =
  result = Node(text: "node " & $depth)
  if depth > 0:
    result.left = make(depth - 1)
    result.right = make(depth - 1)

proc count(n: Node): int =
  if n == nil: 0 else: 1 + count(n.left) + count(n.right)

proc fib(n: int): int = (if n < 2: n else: fib(n - 1) + fib(n - 2))

iterator odd(n: int): int {.closure.} =
  for i in 0 ..< n:
    if i mod 2 == 1: yield i

proc work(n: int) {.thread.} =
  var sum = 0
  for i in 1 .. 30:
    sum += fib(12) + make(5).count
    try: sum += descend(i mod 20)
    except Depth as e: sum += e.depth
  if sum == 0: echo "zero"

var total = 0
for i in 1 .. 200:
  try: total += descend(i mod 90)
  except Depth as e: total += e.depth
  total += make(6).count
  if i mod 50 == 0: GC_fullCollect()
echo total, " ", fib(22)
var threads: array[4, Thread[int]]
for i in 0 .. 3: createThread(threads[i], work, i)
joinThreads(threads)
var words = initTable[string, int]()
for i in 0 ..< 20000: words.mgetOrPut($(i * 7919 mod 5003), 0) += i
echo words.len, " ", toSeq(words.values).foldl(a + b)
echo toSeq(odd(20)).mapIt(it * it).sorted(SortOrder.Descending)
try:
  discard parseInt("x")
except ValueError as e:
  echo e.msg, " ", e.getStackTrace.contains("closures.nim")
var empty: seq[int]
try:
  echo empty[total - total]
except IndexDefect as e:
  echo e.msg
