# Writes blocks.json: analyses in blocks by R itself. Rscript blocks.R > blocks.json
options(digits = 17)
options(contrasts = c("contr.helmert", "contr.poly"))

list_of <- function(x) paste0("[", paste(one(x), collapse = ", "), "]")
rows_of <- function(m) paste0("[", paste(apply(m, 1, list_of), collapse = ", "), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{", paste0("\"", names(fields), "\": ", unlist(fields), collapse = ", "), "}")
}
one <- function(x) trimws(formatC(x, digits = 17, format = "g"))

# Subjects in blocks, levels within subjects.
split_plot <- function(rows, block) {
  k <- ncol(rows)
  n <- nrow(rows)
  data <- data.frame(
    x = as.vector(t(rows)), subject = factor(rep(seq_len(n), each = k)),
    level = factor(rep(seq_len(k), n)), block = factor(rep(block, each = k))
  )
  # Sums of squares are sequential, and levels come first: blocks may be of different sizes.
  table <- summary(aov(x ~ level + block + level:block + Error(subject), data))
  within <- table[["Error: Within"]][[1]]
  found <- function(name) within[trimws(rownames(within)) == name, ]
  b <- length(unique(block))
  mse <- found("Residuals")[["Mean Sq"]]
  contrast <- sapply(2:k, function(j) {
    # A level against the first: the mean of differences adjusted for blocks, whose contrasts sum to 0 over subjects.
    d <- rows[, j] - rows[, 1]
    residual <- residuals(lm(d ~ factor(block)))
    t <- mean(d) / sqrt(sum(residual^2) / (n - b) / n)
    c(t, 2 * pt(-abs(t), n - b))
  })
  object(
    rows = rows_of(rows), block = list_of(block), f = one(found("level")[["F value"]]),
    df = list_of(c(k - 1, found("Residuals")[["Df"]])), p = one(found("level")[["Pr(>F)"]]),
    block_f = one(found("level:block")[["F value"]]), block_df = one(found("level:block")[["Df"]]),
    block_p = one(found("level:block")[["Pr(>F)"]]),
    half_width = one(qt(0.975, (k - 1) * (n - b)) * sqrt(mse / n)),
    contrast_t = list_of(contrast[1, ]), contrast_p = list_of(contrast[2, ])
  )
}

wavy <- function(n, k) outer(1:n, 1:k, function(i, j) sin(i * 1.7 + j * j) + 0.1 * j * i + 2 * i)
cases <- c(
  split_plot(wavy(6, 3), c(1, 1, 1, 2, 2, 2)),
  split_plot(wavy(9, 4), c(1, 2, 3, 1, 2, 3, 1, 1, 1)),
  split_plot(wavy(5, 2), c(1, 2, 2, 1, 2)),
  split_plot(wavy(4, 3), c(1, 2, 3, 3))
)

agreement <- function(strata) {
  values <- unlist(strata)
  group <- factor(rep(seq_along(strata), lengths(strata)))
  found <- oneway.test(values ~ group, var.equal = FALSE)
  object(
    strata = paste0("[", paste(sapply(strata, list_of), collapse = ", "), "]"),
    f = one(found$statistic), df = one(found$parameter[[2]]), p = one(found$p.value)
  )
}
strata <- c(
  # R's data set sleep: the two drugs.
  agreement(split(sleep$extra, sleep$group)),
  # R's data set PlantGrowth.
  agreement(split(PlantGrowth$weight, PlantGrowth$group)),
  agreement(list(sin(1:7), 0.3 + 2 * cos(1:5), 0.1 * (1:9), c(1, 1.5)))
)

quoted <- function(text) paste0("\"", text, "\"")
cat("{\n  \"versions\": ", object(R = quoted(as.character(getRversion()))), ",\n", sep = "")
cat("  \"split_plot\": [\n    ", paste(cases, collapse = ",\n    "), "\n  ],\n", sep = "")
cat("  \"strata\": [\n    ", paste(strata, collapse = ",\n    "), "\n  ]\n}\n", sep = "")
