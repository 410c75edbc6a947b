static volatile int value = 42;

int answer(void)
{
    return value;
}
