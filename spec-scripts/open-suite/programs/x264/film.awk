# Writes a film of `frames` pictures of 352 x 288 as YUV4MPEG: a pattern that moves, a ball, some
# noise.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 65536) % n
}

BEGIN {
    seed = 20130316
    # Bytes as text, so that a row is written at once.
    for (i = 16; i < 236; i++) byte[i] = sprintf("%c", i)
    grey = ""
    for (i = 0; i < 176; i++) grey = grey byte[128]
    printf "YUV4MPEG2 W352 H288 F25:1 Ip C420jpeg\n"
    for (f = 0; f < frames; f++) {
        printf "FRAME\n"
        for (y = 0; y < 288; y++) {
            row = ""
            dy = y - 144 - 3 * f
            for (x = 0; x < 352; x++) {
                dx = x - 60 - 8 * f
                value = dx * dx + dy * dy < 1600 ? 200 - int((dx * dx + dy * dy) / 20) \
                    : 40 + (x + 2 * f) % 64 + int((y * (x % 48)) / 288) + random(6)
                row = row byte[value]
            }
            printf "%s", row
        }
        for (y = 0; y < 288; y++) printf "%s", grey
    }
}
