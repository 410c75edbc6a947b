# Writes about `bytes` bytes of text that compresses like real text and source:
# words with a skewed frequency, phrases that come back, numbers, indented lines.
# All arithmetic stays below 2^53, so every awk writes the same bytes.
# Usage: awk -v bytes=N -f corpus.awk

function random(n) {
    seed = (seed * 16807) % 2147483647
    return seed % n
}

# A word index where small numbers are far more frequent.
function skewed(n) { return int(random(n) * random(n) / n) }

function new_word(    length_left, word) {
    word = ""
    for (length_left = 1 + random(4); length_left > 0; length_left--)
        word = word syllable[random(40)]
    return word
}

BEGIN {
    seed = 20130316
    split("al an ar be ca co de di el en er es fo ge ha he in ing ion is it ka le lo ma me mi ne no" \
        " on or pe qu ra re sa se ta ti to un ve", parts, " ")
    for (i = 0; i < 40; i++) syllable[i] = parts[i + 1]
    for (i = 0; i < 6000; i++) word[i] = new_word()
    phrases = 0
    while (written < bytes) {
        kind = random(16)
        if (kind < 3 && phrases > 0) {
            line = phrase[random(phrases)]
        } else if (kind < 6) {
            line = sprintf("    %s(%s, %d, 0x%04x);", word[skewed(6000)], word[skewed(6000)],
                random(1000), random(65536))
        } else {
            line = ""
            for (i = 6 + random(10); i > 0; i--)
                line = line word[skewed(6000)] (random(12) ? " " : ", ")
            if (random(4) == 0) { phrase[phrases % 800] = line; if (phrases < 800) phrases++ }
        }
        print line
        written += length(line) + 1
    }
}
