#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the page about a run says, as sentences and tables: pure functions of what was read and laid under the plan.

#include "core/runs/overlay/run_overlay.h"
#include "models/validation/text_table_model.h"

#include <QColor>
#include <QString>

#include <string>

namespace trainyard {

/// What the core says of a run, as asSentence() of core/base/words.h has it.
[[nodiscard]] QString sentenceOf(const std::string &text);
[[nodiscard]] QString nameOf(const Run &run);
/// "8 ranks  ·  12 steps  ·  3 files".
[[nodiscard]] QString overviewOf(const Run &run);
/// "Step 12 took 1.42 s, 180 ms more (+14.5 %) than the plan's 1.24 s: 120 ms of exposed communication, …".
[[nodiscard]] QString resultSentence(const RunOverlay &overlay);
/// "The run has 8 ranks, the plan 1,024. " Empty where both have as many, or one does not tell.
/// Whether the difference of a row is known. What one side does not tell apart is none, and less of a kind is no gain
/// where the rest of it may be in what the run does not tell apart.
[[nodiscard]] bool isComparable(const DifferenceRow &row, const DifferenceTable &table);
[[nodiscard]] QString sizesSentence(const RunOverlay &overlay);
/// "step 12, typical", "step 1, a warm-up: no median counts it".
[[nodiscard]] QString stepSentence(const Run &run, const RunStep &step);
/// How the clocks were made one, a sentence each.
[[nodiscard]] QStringList clockSentences(const Run &run);
/// Ranks of the run's job, and of the plan, that nobody recorded; ascending.
[[nodiscard]] std::vector<int> unrecordedRanks(const RunOverlay &overlay);
/// Whether ranks that nobody recorded have a cell each: not where they are many and most.
[[nodiscard]] bool hasCellsForMissing(const RunOverlay &overlay, const std::vector<int> &missing);
[[nodiscard]] QString missingSentence(const RunOverlay &overlay);
/// Short: "step 12: 1.42 s, plan 1.24 s (+14.5 %)".
[[nodiscard]] QString shortResult(const RunOverlay &overlay);
/// "1.42 s", "43.1 %", "71.2 GB", "410 TFLOP/s" of a curve's value.
[[nodiscard]] QString curveValue(const RunCurve &curve, double value);

/// Every file with what it is, what was taken of it and what was not, and why.
[[nodiscard]] TextRows sourceTable(const Run &run);
/// How many of the files were refused.
[[nodiscard]] int refusedFiles(const Run &run);
/// The table of differences with its sums, a line a kind, for TSV and CSV.
[[nodiscard]] QString differenceText(const RunOverlay &overlay, QChar separator);
/// As elsewhere, but "0 s" of nothing.
[[nodiscard]] QString secondsText(double seconds);
/// Seconds with their sign, "+180 ms", "−3.4 ms", "0 s".
[[nodiscard]] QString signedSeconds(double seconds);

[[nodiscard]] QColor colorOf(DifferenceKind kind);
[[nodiscard]] QString meaningOf(DifferenceKind kind);

} // namespace trainyard
