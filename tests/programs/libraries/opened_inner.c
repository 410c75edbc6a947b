extern void say(const char *word);

__attribute__((constructor)) static void opened(void)
{
    say("(inner");
}
__attribute__((destructor)) static void closed(void)
{
    say(" inner)");
}
int inner(int (*back)(int), int x)
{
    switch (x) {
    case 0: return back(1);
    case 1: return back(5) + 2;
    case 2: return back(back(x));
    case 3: return -back(x);
    case 4: return 4;
    case 5: return back(x) * 3;
    default: return x + back(7);
    }
}
