#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One variant on the board: its colour and name, a small map, its numbers and their differences to the baseline, what
// differs in words, and its note. GUI thread.

#include "models/edit_history.h"

#include <QFrame>

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QPushButton;
class QToolButton;

namespace trainyard {

class TextLine;
struct Variant;

class VariantCard : public QFrame {
    Q_OBJECT
public:
    explicit VariantCard(QWidget *parent = nullptr);

    QToolButton *const color, *const more;
    QLineEdit *const name;
    QPushButton *const show, *const compare;
    QPlainTextEdit *const note;

    struct Face {
        const Variant *variant = nullptr;
        int place = 0;
        bool isCurrent = false, isBaseline = false;
        /// null: not known yet
        const PlanFigures *figures = nullptr, *base = nullptr;
        /// against the baseline
        QStringList differences;
    };
    void setFace(const Face &face);
    void setMap(const QPixmap &map);
    /// What the card says, line by line.
    [[nodiscard]] QStringList lines() const;

Q_SIGNALS:
    void renamed(const QString &name);
    void noted(const QString &note);
    void chosen();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void commitNote();

    QLabel *m_map;
    TextLine *m_badge, *m_time, *m_change, *m_price, *m_memory, *m_words;
    QColor m_color;
    QString m_note;
    bool m_isCurrent = false;
};

} // namespace trainyard
