/* What a program says to szc's runtime by itself: a new layout now, its number, and times without
 * new layouts. Works in C and C++, by any compiler. In a program that szc did not link, and in one
 * whose layout it does not change, every call does nothing.
 *
 * The functions may be called on any thread and in signal handlers. They leave errno alone. Other
 * languages find them as szc_rt_relayout, szc_rt_layout, szc_rt_pause and szc_rt_resume, in the
 * program and by dlsym; where there is no runtime the names do not exist.
 */
#ifndef SZC_H
#define SZC_H

#ifdef __cplusplus
extern "C" {
#endif

#define SZC_WEAK __attribute__((weak, visibility("default")))
SZC_WEAK extern unsigned long long szc_rt_relayout(void);
SZC_WEAK extern unsigned long long szc_rt_layout(void);
SZC_WEAK extern void szc_rt_pause(void);
SZC_WEAK extern void szc_rt_resume(void);
#undef SZC_WEAK

/* Begins a new layout of code and stack and waits for it, mostly for a fraction of a millisecond.
 * It holds for every call that begins after this returns; functions that are running go on where
 * they are. Several threads that ask at a time may get one layout together.
 *
 * Returns the number of the layout in use. It is the one from before if there can be no other:
 * the memory for copies is used up and none of it can be freed, the program has installed a system
 * call filter, a child that it forked still needs the layout, or it is just changing its user.
 */
static __inline__ unsigned long long szc_relayout(void)
{
    return szc_rt_relayout ? szc_rt_relayout() : 0;
}

/* The number of the layout in use, from 1 on; 0 if the program has none that can change. */
static __inline__ unsigned long long szc_layout(void)
{
    return szc_rt_layout ? szc_rt_layout() : 0;
}

/* From now on a layout begins only by szc_relayout, and no more at every interval. (One that has
 * begun meanwhile is finished.) Times may be nested and overlap: each needs its szc_resume. */
static __inline__ void szc_pause(void)
{
    if (szc_rt_pause)
        szc_rt_pause();
}

/* Ends what one szc_pause began; without one it does nothing. */
static __inline__ void szc_resume(void)
{
    if (szc_rt_resume)
        szc_rt_resume();
}

#ifdef __cplusplus
}
#endif

#endif
