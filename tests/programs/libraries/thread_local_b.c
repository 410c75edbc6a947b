extern __thread int shared_counter;
static __thread int own[100] = {3, 4};

int count_opened(int x)
{
    own[x % 100] += shared_counter;
    return own[0] + own[x % 100];
}
