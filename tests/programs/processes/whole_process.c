//#Variants: -O2 | -O0 | gcc -O2
//#Flags: -pthread
/* Calls that are about the process as a whole: all its tasks change their user, and the kernel
 * gives a namespace of users only to a process of one task. Code goes on moving behind them. */
#define _GNU_SOURCE
#include "deeper.h"
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The ids that the kernel gives for a task: real, effective, saved, of files. */
NOINLINE static void ids(const char *task, const char *field, char *line, size_t room)
{
    char path[300];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *status = fopen(path, "re");
    line[0] = 0;
    while (status && fgets(line, (int)room, status))
        if (!strncmp(line, field, strlen(field)))
            break;
    if (status)
        fclose(status);
}

/* Every task has them. One that has ended meanwhile has none. */
NOINLINE static void same_in_all_tasks(const char *field)
{
    char own[256], other[256];
    snprintf(other, sizeof other, "%d", (int)gettid());
    ids(other, field, own, sizeof own);
    CHECK(!strncmp(own, field, strlen(field)));
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks);
    for (struct dirent *task; (task = readdir(tasks));) {
        if (task->d_name[0] == '.')
            continue;
        ids(task->d_name, field, other, sizeof other);
        CHECK(!other[0] || !strcmp(own, other));
    }
    closedir(tasks);
}

static atomic_bool stop;
static void *busy(void *unused)
{
    (void)unused;
    uint64_t expected = deeper(5, 9);
    while (!atomic_load(&stop))
        CHECK(deeper(5, 9) == expected);
    return NULL;
}

/* Root can be somebody else for a while. */
NOINLINE static int changes_users(void)
{
    int root = geteuid() == 0;
    uid_t other = root ? 65534 : getuid();
    gid_t group = root ? 65534 : getgid();
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, busy, NULL));
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(deeper(7, 5));
        CHECK(!setegid(group));
        same_in_all_tasks("Gid:");
        CHECK(!seteuid(other));
        same_in_all_tasks("Uid:");
        CHECK(geteuid() == other && getegid() == group);
        if (root) {
            CHECK(!seteuid(0) && !setegid(0) && !setgroups(1, &group));
            same_in_all_tasks("Groups:");
        }
        CHECK(setuid((uid_t)-1) == -1 && errno == EINVAL);
    }
    CHECK(!setresgid(group, group, group) && !setresuid(other, other, other));
    same_in_all_tasks("Gid:");
    same_in_all_tasks("Uid:");
    atomic_store(&stop, 1);
    CHECK(!pthread_join(thread, NULL));
    return 0;
}

/* Not everybody may do this; everybody is told the same as without moving code. */
NOINLINE static int has_a_namespace(void)
{
    SAME_EVERY_ROUND(deeper(11, 5));
    int result = unshare(CLONE_NEWUSER);
    printf("unshare: %s\n", result ? strerror(errno) : "done");
    CHECK(unshare(-1) == -1 && errno == EINVAL);
    CHECK(setns(-1, 0) == -1 && errno == EBADF);
    FOR_A_WHILE SAME_EVERY_ROUND(deeper(13, 5));
    return 0;
}

/* A child that shares its parent's memory, and its maintenance task with nobody. */
NOINLINE static void becomes_another_program(void)
{
    pid_t child = vfork();
    CHECK(child >= 0);
    if (child == 0) {
        if (setuid(getuid()))
            _exit(1);
        execl("/bin/true", "true", (char *)NULL);
        _exit(2);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void in_child(int (*does)(void))
{
    fflush(stdout);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0)
        exit(does());
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
}

int main(void)
{
    in_child(changes_users);
    in_child(has_a_namespace);
    becomes_another_program();
    FOR_A_WHILE
    {
        SAME_EVERY_ROUND(deeper(5, 5));
        CHECK(!seteuid(geteuid()));
    }
    return has_a_namespace();
}
