#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// How far the reading of a run has come, with a button that ends it. Comes into sight only where reading takes a
// moment. GUI thread.

#include "models/run_document.h"

#include <QTimer>
#include <QWidget>

class QProgressBar;
class QPushButton;

namespace trainyard {

class TextLine;

class ReadingStrip : public QWidget {
    Q_OBJECT
public:
    explicit ReadingStrip(RunDocument &runs, QWidget *parent = nullptr);

    QPushButton *const cancel;
    QProgressBar *const bar;
    /// "3 of 17 files · rank3.json.gz".
    [[nodiscard]] QString text() const;
    void setDelay(int milliseconds) { m_delay.setInterval(milliseconds); }

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    void showState(bool isReading);
    void showProgress(const ReadingProgress &progress);

    RunDocument &m_runs;
    TextLine *m_title, *m_text;
    QTimer m_delay;
};

} // namespace trainyard
