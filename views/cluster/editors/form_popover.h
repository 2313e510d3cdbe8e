#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A form beside the thing that it edits, the common frame of the map's editors: no window of its own and nothing else
// is locked, every change is told at once so that it can be tried on the plan, Enter or Done keeps it, Esc puts back.
// One line below the fields says what is wrong or refused, and Done waits until nothing is. GUI thread.

#include "core/facts/plan/keys/cluster_keys.h"

#include <QFrame>
#include <QHash>
#include <QRect>

#include <functional>
#include <optional>
#include <vector>

class QDialogButtonBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QScrollArea;
class QSpinBox;

namespace trainyard {

/// Where a popover of this size goes in `room`: right of `anchor`, else left, below or above, where it hides least of
/// it.
[[nodiscard]] QRect popoverPlace(const QRect &anchor, QSize size, const QRect &room);

class FormPopover : public QFrame {
    Q_OBJECT

public:
    FormPopover(const QString &title, QWidget *parent);

    /// Shows it beside `anchor`, a rectangle of the parent, and gives it the focus. It stays inside the parent at any
    /// size.
    void openBeside(const QRect &anchor);
    /// False where something cannot be taken as it stands.
    [[nodiscard]] bool isValid() const { return m_isValid; }
    [[nodiscard]] QString title() const { return m_title; }

public slots:
    /// nothing where something is wrong
    void accept();
    void reject();

signals:
    /// something else stands in a field
    void changed();
    /// the pointer comes back: a hover elsewhere may have shown another plan meanwhile
    void revisited();
    void accepted();
    void rejected();
    /// a press or the focus went elsewhere in the window
    void left(const QWidget *to);

protected:
    void keyPressEvent(QKeyEvent *event) override;
    void enterEvent(QEnterEvent *event) override;
    bool event(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;
    bool focusNextPrevChild(bool next) override;

    [[nodiscard]] QFormLayout &form() { return *m_form; }
    /// The field that has the focus when the form opens.
    void startAt(QWidget *field) { m_first = field; }
    /// A number as its key tells: title, unit, range, digits, explanation. Where it may be missing, the lowest the
    /// field shows says so: one step below the range where the range's end is a value of its own.
    QDoubleSpinBox *addNumber(const Key &key, std::optional<double> value, bool mayBeMissing);
    template <class Owner, class T> QDoubleSpinBox *addNumber(T Owner::*member, const Owner &owner)
    {
        return addNumber(keys::keyOf(member), owner.*member, kIsOptional<T>);
    }
    template <class Owner> QSpinBox *addCount(int Owner::*member, const Owner &owner)
    {
        return addCount(keys::keyOf(member), owner.*member);
    }
    [[nodiscard]] std::optional<double> optional(const QDoubleSpinBox &box) const;
    QDoubleSpinBox *addNumber(
        const QString &label, double value, double low, double high, int decimals, const QString &unit);
    QSpinBox *addCount(const Key &key, int value);
    /// What the field stands for: the figure that it was made with, to the last digit, until another one is shown.
    [[nodiscard]] double number(const QDoubleSpinBox &box) const;
    [[nodiscard]] int count(const QSpinBox &box) const;
    /// Another figure to start from, such as a suggestion's; a missing one in a field that may be empty.
    void setNumber(QDoubleSpinBox &box, std::optional<double> value);
    /// A sentence on what is wrong; empty = Done may be pressed. What a field refuses comes before it.
    void setFault(const QString &fault);
    /// A quiet sentence, such as where a suggested figure comes from.
    void setNote(const QString &note);
    void setDoneText(const QString &text);

private:
    void say();
    void place();
    void leaveFor(const QObject *target);

    struct Start {
        /// a field rounds and clips what it is given
        double given = 0, shown = 0;
    };
    QHash<const QObject *, Start> m_starts;
    /// of the fields, in their order
    std::vector<std::function<QString()>> m_refusals;
    QString m_title, m_fault, m_note;
    bool m_isValid = true;
    QRect m_anchor;
    QWidget *m_first = nullptr;
    QScrollArea *m_area;
    QFormLayout *m_form;
    QLabel *m_message;
    QDialogButtonBox *m_buttons;
};

} // namespace trainyard
