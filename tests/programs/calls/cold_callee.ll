; A loop that keeps more values than there are registers across a call whose callee keeps all of
; them (coldcc).
target triple = "x86_64-pc-linux-gnu"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
@sink = global i64 0
define internal coldcc i64 @other(i64 %x) noinline {
  %o = load volatile i64, ptr @sink
  %y = add i64 %x, %o
  ret i64 %y
}
define internal coldcc i64 @cold(i64 %x) noinline {
  %a = alloca [16 x i64], align 16
  store volatile i64 %x, ptr %a
  %r = call coldcc i64 @other(i64 %x)
  %v = load volatile i64, ptr %a
  %s = add i64 %r, %v
  ret i64 %s
}
define i64 @keeps_much_in_registers(i64 %n) noinline {
entry:
  br label %l
l:
  %i = phi i64 [0,%entry],[%i1,%l]
  %s = phi i64 [0,%entry],[%s9,%l]
  %b = mul i64 %i, 3
  %c = mul i64 %i, 5
  %d = mul i64 %i, 7
  %e = mul i64 %i, 9
  %f = mul i64 %i, 11
  %g = mul i64 %i, 13
  %h = mul i64 %i, 17
  %j = mul i64 %i, 19
  %k = mul i64 %i, 23
  %k2 = mul i64 %i, 29
  %k3 = mul i64 %i, 31
  %r = call coldcc i64 @cold(i64 %i)
  %x1 = xor i64 %b, %c
  %x2 = mul i64 %x1, %d
  %x3 = xor i64 %x2, %e
  %x4 = mul i64 %x3, %f
  %x5 = xor i64 %x4, %g
  %x6 = mul i64 %x5, %h
  %x7 = xor i64 %x6, %j
  %x8 = mul i64 %x7, %k
  %x9 = xor i64 %x8, %k2
  %x10 = mul i64 %x9, %k3
  %s1 = add i64 %s, %x10
  %s9 = add i64 %s1, %r
  %i1 = add i64 %i, 1
  %q = icmp ult i64 %i1, %n
  br i1 %q, label %l, label %done
done:
  ret i64 %s9
}
