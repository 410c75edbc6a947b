# Writes an XML document of `records` records with a DTD, attributes, character data, and references
# to entities inside entities.

function random(n) {
    seed = (seed * 16807) % 2147483647
    return int(seed / 65536) % n
}

BEGIN {
    seed = 20130316
    print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE library ["
    print "<!ELEMENT library (book*)>\n<!ELEMENT book (title, author+, price?)>"
    print "<!ATTLIST book id CDATA #REQUIRED lang (en | de | fr) \"en\">"
    print "<!ELEMENT title (#PCDATA)>\n<!ELEMENT author (#PCDATA)>\n<!ELEMENT price (#PCDATA)>"
    for (i = 0; i < 20; i++) printf "<!ENTITY word%d \"entity %d\">\n", i, i
    for (i = 20; i < 40; i++)
        printf "<!ENTITY word%d \"of &word%d; and &word%d;\">\n", i, i - 20, (i * 7) % 20
    print "]>\n<library>"
    for (i = 0; i < records; i++) {
        printf "<book id=\"b%d\" lang=\"%s\"><title>About &word%d; &amp; &word%d;</title>", i,
            substr("endefr", 1 + 2 * random(3), 2), random(40), random(40)
        for (j = 1 + random(3); j > 0; j--)
            printf "<author>Author %d &word%d;</author>", random(1000), random(20)
        print (random(2) ? "<price>" random(10000) "</price>" : "") "</book>"
    }
    print "</library>"
}
