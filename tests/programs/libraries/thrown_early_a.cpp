#include <cstdio>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

struct Early {
    Early()
    {
        std::thread thread([] {
            try {
                throw 1;
            } catch (int thrown) {
                std::printf("caught %d\n", thrown);
            }
            std::printf("setgid: %d, gettid: %d\n", setgid(getgid()), syscall(SYS_gettid) > 0);
        });
        thread.join();
    }
} early;
