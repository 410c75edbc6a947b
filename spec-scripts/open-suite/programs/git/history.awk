# A history for `git fast-import`: COMMITS commits that edit, add, rename and remove files.
function below(bound) {
    state = (state * 16807) % 2147483647
    return state % bound
}
function line(    text, left) {
    text = ""
    for (left = 4 + below(8); left > 0; left--) text = text substr(words, 1 + 6 * below(40), 5) " "
    return text
}
function blob(file,    text, i) {
    text = ""
    for (i = 1; i <= lines[file]; i++) text = text content[file, i] "\n"
    return text
}
BEGIN {
    state = 4711
    words = ""
    for (i = 0; i < 40; i++) {
        for (j = 0; j < 5; j++) words = words sprintf("%c", 97 + below(26))
        words = words "."
    }
    files = 0
    for (commit = 1; commit <= commits; commit++) {
        printf "commit refs/heads/main\nmark :%d\n", commit
        printf "author Ada <ada@example.org> %d +0000\n", 1600000000 + 3600 * commit
        printf "committer Ada <ada@example.org> %d +0000\n", 1600000000 + 3600 * commit
        message = "Change " commit ": " line()
        printf "data %d\n%s\n", length(message), message
        if (commit > 1) printf "from :%d\n", commit - 1
        if (files < 30 || below(10) == 0) {
            file = ++files
            name[file] = sprintf("folder%d/file%d.txt", file % 7, file)
            lines[file] = 40 + below(120)
            for (i = 1; i <= lines[file]; i++) content[file, i] = line()
        } else {
            file = 1 + below(files)
            if (below(12) == 0) {
                old = name[file]
                name[file] = sprintf("folder%d/file%d-%d.txt", below(7), file, commit)
                printf "R %s %s\n", old, name[file]
            }
            for (edits = 1 + below(6); edits > 0; edits--) content[file, 1 + below(lines[file])] = line()
        }
        text = blob(file)
        printf "M 100644 inline %s\ndata %d\n%s\n", name[file], length(text), text
    }
    print "done"
}
