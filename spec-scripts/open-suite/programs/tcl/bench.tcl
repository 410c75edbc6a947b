# What Tcl scripts do: strings, lists, dictionaries, regular expressions, procedures, coroutines,
# files in memory. The argument: rounds.

set state 1
proc below {bound} {
    set ::state [expr {($::state * 1103515245 + 12345) & 0x7fffffff}]
    return [expr {($::state >> 8) % $bound}]
}

proc word {} {
    set text ""
    for {set left [expr {2 + [below 7]}]} {$left > 0} {incr left -1} {
        append text [string index "abcdefghijklmnopqrstuvwxyz" [below 26]]
    }
    return $text
}

proc counted {text} {
    set counts [dict create]
    foreach one [split $text] { dict incr counts $one }
    set pairs {}
    dict for {one count} $counts { lappend pairs [list $one $count] }
    return [lsort -integer -decreasing -index 1 [lsort -index 0 $pairs]]
}

proc fibonacci {n} {
    if {$n < 2} { return $n }
    return [expr {[fibonacci [expr {$n - 1}]] + [fibonacci [expr {$n - 2}]]}]
}

proc primes {limit} {
    set marks [lrepeat [expr {$limit + 1}] 1]
    set found {}
    for {set i 2} {$i <= $limit} {incr i} {
        if {![lindex $marks $i]} continue
        lappend found $i
        for {set j [expr {$i * $i}]} {$j <= $limit} {incr j $i} { lset marks $j 0 }
    }
    return [llength $found]
}

proc walk {tree} {
    foreach {name children} $tree {
        yield $name
        walk $children
    }
}

proc tree {depth} {
    if {$depth == 0} { return {} }
    return [list [word] [tree [expr {$depth - 1}]] [word] [tree [expr {$depth - 1}]]]
}

proc walked {tree} {
    coroutine step apply {{tree} { yield; walk $tree; return "" }} $tree
    set names {}
    while {[set name [step]] ne ""} { lappend names $name }
    return [string length [join [lsort $names]]]
}

proc replaced {text} {
    set text [regsub -all {\m([a-e])(\w*)} $text {<\2\1>}]
    return [list [regexp -all {[aeiou]{2,}} $text] [string map {a 1 e 2 i 3} [string range $text 0 20]]]
}

proc failing {n} {
    set caught 0
    for {set i 0} {$i < $n} {incr i} {
        if {[catch {expr {$i / ($i % 3)}} message]} { incr caught }
    }
    return $caught
}

for {set round 0} {$round < [lindex $argv 0]} {incr round} {
    set words {}
    for {set i 0} {$i < 1200} {incr i} { lappend words [word] }
    set text [join $words " "]
    puts [list $round [lrange [counted $text] 0 2] [replaced $text] [fibonacci 17] [primes 4000] \
        [walked [tree 8]] [failing 600] [string length [binary encode base64 $text]] \
        [expr {3 ** (400 + $round) % 1000007}]]
}
