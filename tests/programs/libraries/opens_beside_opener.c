#include <dlfcn.h>
#include <stddef.h>

int open_and_ask(void)
{
    void *plugin = dlopen("$ORIGIN/opens_beside_plugin.so", RTLD_NOW);
    if (plugin == NULL)
        return -1;
    int answer = ((int (*)(void))dlsym(plugin, "answer"))();
    dlclose(plugin);
    return answer;
}

int open_only(void)
{
    void *plugin = dlopen("$ORIGIN/opens_beside_plugin.so", RTLD_NOW | RTLD_GLOBAL);
    return plugin != NULL;
}
