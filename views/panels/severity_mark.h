#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A mark that tells how grave a line is, by shape and colour: dot, "i", triangle, cross.

#include "core/evaluation/evaluate/evaluation.h"

#include <QWidget>

namespace trainyard {

class SeverityMark : public QWidget {
    Q_OBJECT
public:
    enum class Kind { Fine, Note, Warning, Blocking };
    static constexpr int kSize = 16;

    explicit SeverityMark(Kind kind, QWidget *parent = nullptr);
    [[nodiscard]] static Kind of(Severity severity);

protected:
    void paintEvent(QPaintEvent *event) override;

private:
    Kind m_kind;
};

} // namespace trainyard
