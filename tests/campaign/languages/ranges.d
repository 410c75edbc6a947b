// Exceptions, a garbage collector that scans stacks and registers, fibers, threads, closures, ranges.
import core.memory, core.thread;
import std.algorithm, std.array, std.conv, std.range, std.stdio;

class Depth : Exception {
    int depth;
    this(int depth) { super("depth"); this.depth = depth; }
}

class Node {
    Node left, right;
    string text;
    this(int depth) {
        text = "node " ~ depth.to!string;
        if (depth > 0) { left = new Node(depth - 1); right = new Node(depth - 1); }
    }
    int count() { return 1 + (left ? left.count : 0) + (right ? right.count : 0); }
}

int descend(int n) {
    if (n == 0) throw new Depth(0);
    scope (exit) text = n.to!string;
    try return descend(n - 1) + 1;
    catch (Depth e) throw new Depth(e.depth + 1);
}
string text;

long fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

void work(shared(long)* result, int n) {
    long sum = 0;
    foreach (i; 1 .. 40) {
        try sum += descend((i * n) % 30);
        catch (Depth e) sum += e.depth;
        sum += new Node(6).count + fib(10);
        if (i % 20 == 0) GC.collect();
    }
    *result = sum;
}

void main() {
    shared long[4] results;
    Thread[] threads;
    foreach (n; 0 .. 4) {
        auto start(int n) { return new Thread({ work(&results[n], n + 1); }); }
        threads ~= start(n);
    }
    threads.each!(thread => thread.start());
    long sum = 0;
    auto fibers = iota(5).map!(n => new Fiber({
        foreach (i; 0 .. 20) {
            sum += n + new Node(4).count;
            Fiber.yield();
            try sum += descend(i % 10);
            catch (Depth e) sum += e.depth;
        }
    })).array;
    while (fibers.any!(fiber => fiber.state != Fiber.State.TERM))
        fibers.filter!(fiber => fiber.state != Fiber.State.TERM).each!(fiber => fiber.call());
    threads.each!(thread => thread.join());
    writeln(results[], " ", sum, " ", fib(24));
    int[string] words;
    foreach (i; 0 .. 20_000) words[(i * 7919 % 5003).to!string] += i;
    writeln(words.length, " ", words.byValue.sum);
    try "x".to!int;
    catch (ConvException e) writeln("conversion");
    int[] numbers = [3, 1, 2];
    try writeln(numbers[sum % 1 + 5]);
    catch (Error e) writeln(typeid(e).name);
    numbers.sort!"a > b".writeln;
}
