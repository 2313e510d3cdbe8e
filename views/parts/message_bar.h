#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the window has to say without interrupting: one message a line, each with its answers as buttons, until answered
// or closed. A new message of the same kind replaces the last. GUI thread.

#include <QWidget>

#include <functional>
#include <vector>

class QVBoxLayout;

namespace trainyard {

struct Message {
    enum class Tone { Info, Warning, Error };
    struct Answer {
        QString text;
        std::function<void()> run;
    };
    /// "recovery", "disk", "open": one of each at a time
    QString kind;
    Tone tone = Tone::Info;
    /// one sentence
    QString text;
    /// further lines, shown as tooltip and below where there are few
    QString details;
    std::vector<Answer> answers;
};

class MessageBar : public QWidget {
    Q_OBJECT
public:
    explicit MessageBar(QWidget *parent = nullptr);

    void show(Message message);
    void dismiss(const QString &kind);
    /// Text of a message in sight; empty where there is none of this kind.
    [[nodiscard]] QString text(const QString &kind) const;
    /// Presses the nth answer of a message in sight.
    bool answer(const QString &kind, int index);

private:
    struct Line {
        Message message;
        QWidget *widget;
    };
    QWidget *lineWidget(const Message &message);

    std::vector<Line> m_lines;
    QVBoxLayout *m_layout;
};

} // namespace trainyard
