/* The other module of identity.c. */
typedef long function(long);

__attribute__((noinline)) long shared_function(long x) { return x * x + 1; }
__attribute__((noinline)) static long hidden(long x) { return shared_function(x) - 3; }

function *other_address(void) { return shared_function; }
function *other_static(void) { return hidden; }
long other_calls(function *f) { return f(10); }
int other_compares(function *f) { return f == shared_function; }
