# Fibers with stacks of their own, channels, exceptions with backtraces, a conservative collector.
class Depth < Exception
  getter depth : Int32
  def initialize(@depth : Int32)
    super("depth #{@depth}")
  end
end

def descend(n : Int32) : Int32
  raise Depth.new(0) if n == 0
  begin
    descend(n - 1) + 1
  rescue error : Depth
    raise Depth.new(error.depth + 1)
  ensure
    "#{n}"
  end
end

def fib(n : Int32) : Int64
  n < 2 ? n.to_i64 : fib(n - 1) + fib(n - 2)
end

class Node
  property left : Node?, right : Node?, text : String
  def initialize(depth : Int32)
    @text = "node #{depth}"
    if depth > 0
      @left = Node.new(depth - 1)
      @right = Node.new(depth - 1)
    end
  end
  def count : Int32
    1 + (left.try(&.count) || 0) + (right.try(&.count) || 0)
  end
end

channel = Channel(Int32).new
8.times do |n|
  spawn do
    sum = 0
    30.times do |i|
      begin
        sum += descend((n * i) % 40)
      rescue error : Depth
        sum += error.depth
      end
      Fiber.yield
      sum += Node.new(6).count
      GC.collect if i % 15 == 0
    end
    channel.send(sum)
  end
end
puts (1..8).map { channel.receive }.sort
puts fib(24)
words = Hash(String, Int32).new(0)
20000.times { |i| words[(i * 7919 % 5003).to_s] += i }
puts words.size, words.values.sum
begin
  [1, 2][5]
rescue error : IndexError
  puts error.message
  puts error.backtrace?.try(&.any?(&.includes?("fibers"))) || false
end
begin
  "x".to_i
rescue error
  puts error.message
end
puts [5, 3, 9, 1].sort_by { |i| -i }
puts `echo child`
