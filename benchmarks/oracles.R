# The statistics of benchmarks/oracles.py by R's stats, survival and coin. Reads cases.csv, writes case, name, value.
suppressPackageStartupMessages({library(survival); library(coin)})
options(warn = -1) # approximations of few runs, whose p are not used
given <- commandArgs(TRUE)
rows <- read.csv(given[1])

# Twice the smaller tail: Covey's two-sided p.
twice <- function(test) min(1, 2 * min(pvalue(test("less")), pvalue(test("greater"))))
of_splits <- function(scores, g) {
  if (max(scores) - min(scores) < 1e-9) return(1)
  twice(function(side) oneway_test(scores ~ g, distribution = "exact", alternative = side))
}
of_flips <- function(scores) {
  scores <- scores[abs(scores) > 1e-9]
  if (!length(scores)) return(1)
  n <- length(scores)
  paired <- data.frame(y = c(scores, 0 * scores), x = gl(2, n), block = factor(rep(1:n, 2)))
  twice(function(side) symmetry_test(y ~ x | block, paired, distribution = "exact", alternative = side))
}

found <- NULL
say <- function(case, name, values) {
  found <<- rbind(found, data.frame(case = case, name = name, number = seq_along(values), value = as.numeric(values)))
}

for (one in split(rows, rows$case)) {
  case <- one$case[1]; n <- nrow(one)
  g <- gl(2, n); t <- c(one$a, one$b); d <- c(one$done_a, one$done_b) == 1
  setting <- rep(one$setting, 2)
  a <- ifelse(one$done_a == 1, one$a, Inf); b <- ifelse(one$done_b == 1, one$b, Inf)

  told <- survdiff(Surv(t, d) ~ g)
  say(case, "log-rank, observed less expected", told$obs[1] - told$exp[1])
  scores <- residuals(coxph(Surv(t, d) ~ 1, ties = "breslow"), "martingale")
  say(case, "log-rank, p", of_splits(scores, g))
  if (!anyDuplicated(t)) {
    p <- twice(function(side) logrank_test(Surv(t, d) ~ g, distribution = "exact", alternative = side))
    say(case, "log-rank, p by coin's logrank_test", p)
  }
  told <- survdiff(Surv(t, d) ~ g + strata(setting))
  more <- as.matrix(told$obs - told$exp)
  say(case, "log-rank by settings, observed less expected", sum(more[1, ]))
  scores <- residuals(coxph(Surv(t, d) ~ strata(setting), ties = "breslow"), "martingale")
  by_block <- tapply(scores[1:n] - scores[n + 1:n], one$block, sum)
  say(case, "log-rank by blocks, p", of_flips(round(1e4 * by_block)))

  say(case, "Mann-Whitney, p", of_splits(rank(c(a, b)), g))
  apart <- ifelse(is.infinite(a) & is.infinite(b), 0, a - b)
  ranks <- rep(0, n); some <- apart != 0
  ranks[some] <- rank(abs(apart[some])) * sign(apart[some])
  say(case, "Wilcoxon by blocks, p", of_flips(2 * tapply(ranks, one$block, sum)))
  if (all(is.finite(c(a, b))) && !anyDuplicated(t)) {
    told <- wilcox.test(a, b, exact = TRUE, conf.int = TRUE)
    say(case, "shift without pairs and its interval", c(told$estimate, told$conf.int))
    d_i <- a - b
    if (!anyDuplicated(abs(d_i)) && all(d_i != 0) && n > 5) {
      told <- wilcox.test(a, b, paired = TRUE, exact = TRUE, conf.int = TRUE)
      say(case, "shift in pairs and its interval", c(told$estimate, told$conf.int))
      say(case, "Wilcoxon in pairs, p", told$p.value)
    }
  }

  first <- one$setting == 0
  both <- table(factor(one$done_a[first], 0:1), factor(one$done_b[first], 0:1))
  apart <- both[1, 2] + both[2, 1]
  say(case, "McNemar, p", if (apart) pvalue(mh_test(as.table(both), distribution = "exact")) else 1)
  counts <- rbind(table(factor(one$done_a, 0:1)), table(factor(one$done_b, 0:1)))
  p <- sapply(c("less", "greater"), function(side) fisher.test(counts, alternative = side)$p.value)
  say(case, "Fisher, p", min(1, 2 * min(p)))
  say(case, "Wilson's interval", prop.test(sum(one$done_a), n, correct = FALSE)$conf.int)
  say(case, "restricted means without pairs, Welch's interval", t.test(one$a, one$b)$conf.int)

  fit <- survfit(Surv(t, d) ~ 1, conf.type = "log-log")
  inside <- fit$surv > 1e-9 & fit$surv < 1 - 1e-9
  say(case, "Kaplan-Meier", fit$surv)
  say(case, "Kaplan-Meier, log-log interval", c(fit$lower[inside], fit$upper[inside]))
  say(case, "restricted mean", summary(fit, rmean = max(t))$table["rmean"])
  whole <- survfit(Surv(t, d) ~ 1, conf.type = "log-log", cluster = rep(one$block, 2))
  say(case, "Kaplan-Meier of runs with several times, log-log interval", c(whole$lower[inside], whole$upper[inside]))

  three <- as.matrix(one[, c("a", "b", "c")])
  told <- friedman.test(three)
  say(case, "Friedman's statistic", if (is.nan(told$statistic)) 0 else told$statistic)
  say(case, "Nemenyi's critical difference", qtukey(0.95, 3, Inf) / sqrt(2) * sqrt(3 * 4 / (6 * n)))
  say(case, "Holm", p.adjust(one$p, "holm"))
  say(case, "Benjamini and Hochberg", p.adjust(one$p, "BH"))
}
write.csv(found, given[2], row.names = FALSE)
