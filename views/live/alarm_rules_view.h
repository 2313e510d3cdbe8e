#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of alarms as they are now: threshold and hold time of each, where they were read, and who is notified. A
// button reads a file of them. GUI thread.

#include "models/live_document.h"

#include <QWidget>

#include <array>

class QPushButton;

namespace trainyard {

class TextLine;

class AlarmRulesView : public QWidget {
    Q_OBJECT
public:
    explicit AlarmRulesView(LiveDocument &live, QWidget *parent = nullptr);

    QPushButton *const read;
    /// "Clock\t0.8 share\t60 s", a line a rule, with a line of titles
    [[nodiscard]] QString toTsv() const;
    /// where the rules are from, and who is notified
    [[nodiscard]] QString origin() const;

private:
    void refresh();

    LiveDocument &m_live;
    std::array<std::array<TextLine *, 3>, watch::kRules> m_cells {};
    TextLine *m_origin;
};

} // namespace trainyard
