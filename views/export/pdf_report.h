#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The report on pages: text, tables and pictures as vectors, A4 or Letter as the country has it, each page numbered.
// The plan is attached as a file and lies in the metadata, where the reader of plans finds it. Any thread.

#include "models/plan_export.h"

#include <QPageSize>

namespace trainyard {

/// Letter where lengths are given in inches, else A4.
[[nodiscard]] QPageSize paperOfThisCountry();
/// A PDF; empty where Qt could not write it.
[[nodiscard]] QByteArray pdfReport(const ReportPieces &pieces, const QPageSize &paper);
[[nodiscard]] Expected<void> writePdfReport(const EvaluationPtr &evaluation, const QString &name, const QString &path);

} // namespace trainyard
