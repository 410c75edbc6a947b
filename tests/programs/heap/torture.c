//#Variants: -O2
//#Flags: -pthread
//#Movable: 0
//#Epochs: 0
/* torture [THREADS [OPERATIONS [SEED]]]: random operations of malloc's family on blocks that all threads share, with
   their contents checked: sizes up to 64 MiB, alignments up to 2 MiB. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define SLOTS 4096
static _Atomic(void*) slots[SLOTS];
static long operations; static uint64_t seed;
typedef struct { size_t bytes; uint64_t tag; } Head;
static uint64_t next(uint64_t*s){ uint64_t z=(*s+=0x9e3779b97f4a7c15u); z=(z^(z>>30))*0xbf58476d1ce4e5b9u; z=(z^(z>>27))*0x94d049bb133111ebu; return z^(z>>31); }
static void fill(char*p,size_t n,uint64_t tag){ Head*h=(Head*)p; h->bytes=n; h->tag=tag; 
  if(n<=4096) for(size_t i=sizeof*h;i<n;i++) p[i]=(char)(tag+i*7); else { for(size_t i=sizeof*h;i<n;i+=1021) p[i]=(char)(tag+i*7); p[n-1]=(char)(tag+(n-1)*7);} }
static void check(char*p){ Head*h=(Head*)p; size_t n=h->bytes; uint64_t tag=h->tag; if(malloc_usable_size(p)<n) {fprintf(stderr,"usable %zu < %zu\n",malloc_usable_size(p),n); abort();}
  if(n<=4096) { for(size_t i=sizeof*h;i<n;i++) if(p[i]!=(char)(tag+i*7)){fprintf(stderr,"corrupt at %zu of %zu\n",i,n);abort();} }
  else { for(size_t i=sizeof*h;i<n;i+=1021) if(p[i]!=(char)(tag+i*7)){fprintf(stderr,"corrupt at %zu of %zu\n",i,n);abort();} if(p[n-1]!=(char)(tag+(n-1)*7)){fprintf(stderr,"corrupt end\n");abort();} } }
static size_t size(uint64_t*s){ uint64_t r=next(s); size_t max; unsigned k=r%1000; if(k<800) max=512; else if(k<960) max=8192; else if(k<997) max=200000; else if (k<999||(r>>32)%16) max=1<<20; else max=64<<20; return sizeof(Head)+next(s)%(max-sizeof(Head)); }
static void* run(void*a){ uint64_t s=seed*1000+(uintptr_t)a; size_t alloc=0;
  for(long i=0;i<operations;i++){ unsigned at=next(&s)%SLOTS; char*p=atomic_exchange(&slots[at],NULL); unsigned what=next(&s)%16;
    if(p){ check(p); if(what<10){ free(p); continue; } size_t n=size(&s); Head h=*(Head*)p; size_t old=h.bytes; char*q=realloc(p,n); if(!q) abort(); 
        size_t keep=old<n?old:n; if(((Head*)q)->tag!=h.tag) abort(); if(keep>sizeof h&&keep<=4096&&q[keep-1]!=(char)(h.tag+(keep-1)*7)&&old<=4096) {fprintf(stderr,"realloc lost\n");abort();} p=q; fill(p,n,next(&s)); }
    else { size_t n=size(&s); if(what<10) p=malloc(n); else if(what<13){ p=calloc(1,n); for(size_t j=0;j<n;j+=(n>4096?509:1)) if(p[j]) {fprintf(stderr,"calloc not zero\n");abort();} } else { size_t al=(size_t)1<<(next(&s)%22); if((next(&s)&15)&&al>8192) al=64; p=memalign(al,n); if((uintptr_t)p%al) abort(); }
      if(!p) abort(); fill(p,n,next(&s)); }
    p=atomic_exchange(&slots[at],p); if(p){ check(p); free(p);} }
  return NULL; }
int main(int c,char**v){ int t=c>1?atoi(v[1]):3; operations=c>2?atol(v[2]):60000; seed=c>3?atol(v[3]):1; int rounds=4; 
  for(int r=0;r<rounds;r++){ pthread_t th[64]; long save=operations; operations=save/rounds/t; seed+=r; for(int i=0;i<t;i++) pthread_create(&th[i],NULL,run,(void*)(uintptr_t)i); for(int i=0;i<t;i++) pthread_join(th[i],NULL); operations=save; }
  for(int i=0;i<SLOTS;i++){ char*p=slots[i]; if(p){check(p);free(p);} } puts("ok"); return 0; }
