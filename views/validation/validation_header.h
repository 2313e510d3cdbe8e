#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The head of the validation page: what the last run found in one line, whose rows to run, how far a run is, and what
// is wrong with a file of rows. GUI thread.

#include "core/base/error.h"

#include <QWidget>

class QLineEdit;
class QProgressBar;
class QPushButton;

namespace trainyard {

class EvidenceTable;
class TextLine;
class TextTableModel;

class ValidationHeader : public QWidget {
    Q_OBJECT
public:
    explicit ValidationHeader(QWidget *parent = nullptr);

    void setOverview(const QString &text);
    void setRunning(bool isRunning);
    void setProgress(int done, int rows);
    void setHasResult(bool hasResult);
    /// The file whose rows are run; empty: the built-in ones.
    void setFile(const QString &file);
    /// Lists what is wrong with a file of rows; none: all is well.
    void setFaults(const QString &file, const Errors &errors);

    QPushButton *const back, *const choose, *const builtin, *const again, *const stop, *const exportCsv;
    QLineEdit *const file;
    [[nodiscard]] EvidenceTable &faults() { return *m_faults; }

signals:
    void runRequested(const QString &file);

private:
    void arrange();

    TextLine *m_title, *m_overview, *m_progressText, *m_faultTitle;
    QProgressBar *m_progress;
    QWidget *m_faultBox;
    EvidenceTable *m_faults;
    TextTableModel *m_faultModel;
};

} // namespace trainyard
