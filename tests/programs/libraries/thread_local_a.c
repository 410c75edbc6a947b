__thread int shared_counter = 5;
static __thread int first = 1, second = 2;
static __thread int initial __attribute__((tls_model("initial-exec"))) = 9;

int count_general(int x)
{
    return shared_counter += x;
}
int count_local(int x)
{
    first += x;
    second ^= first;
    return first + second;
}
int count_initial(int x)
{
    return initial += 2 * x;
}
