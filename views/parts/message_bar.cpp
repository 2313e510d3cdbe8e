// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/parts/message_bar.h"

#include "models/text/foreign_text.h"
#include "views/theme/icons.h"
#include "views/theme/theme.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kMostDetails = 4; // lines shown; more are in the tooltip

class LineSurface : public QWidget {
public:
    explicit LineSurface(Message::Tone tone, QWidget *parent)
        : QWidget(parent)
        , m_tone(tone)
    {
    }

protected:
    void paintEvent(QPaintEvent *) override
    {
        const Theme &t = theme();
        const QColor ink = m_tone == Message::Tone::Error ? t.bad
            : m_tone == Message::Tone::Warning            ? t.warning
                                                          : t.accent;
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        const QRectF box = QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5);
        painter.setPen(t.border);
        painter.setBrush(t.panel);
        painter.drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
        painter.setClipRect(QRectF(0, 0, 4, height()));
        painter.setPen(Qt::NoPen);
        painter.setBrush(ink);
        painter.drawRoundedRect(box, Theme::kRadius, Theme::kRadius);
    }

private:
    Message::Tone m_tone;
};

QString withDetails(const Message &message)
{
    QString text = message.text.toHtmlEscaped();
    const QStringList lines = message.details.split(u'\n', Qt::SkipEmptyParts);
    for (const QString &line : lines.mid(0, kMostDetails))
        text +=
            QStringLiteral("<br><span style='color:%1'>%2</span>").arg(theme().textMuted.name(), line.toHtmlEscaped());
    if (lines.size() > kMostDetails)
        text += QStringLiteral("<br>") + MessageBar::tr("and %1 more").arg(lines.size() - kMostDetails);
    return text;
}

} // namespace

MessageBar::MessageBar(QWidget *parent)
    : QWidget(parent)
    , m_layout(new QVBoxLayout(this))
{
    m_layout->setContentsMargins(0, 0, 0, 0);
    m_layout->setSpacing(4);
    setAccessibleName(tr("Messages"));
    hide();
}

QWidget *MessageBar::lineWidget(const Message &message)
{
    auto *line = new LineSurface(message.tone, this);
    auto *row = new QHBoxLayout(line);
    row->setContentsMargins(Theme::kPad + 2, 5, 6, 5);
    auto *label = new QLabel(withDetails(message), line);
    label->setTextFormat(Qt::RichText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(true);
    label->setToolTip(plainTip(message.details));
    row->addWidget(label, 1);
    for (const Message::Answer &answer : message.answers) {
        auto *button = new QPushButton(answer.text, line);
        row->addWidget(button);
        connect(button, &QPushButton::clicked, this, [this, kind = message.kind, run = answer.run] {
            dismiss(kind);
            if (run)
                run();
        });
    }
    auto *close = new QToolButton(line);
    close->setIcon(themedIcon(QStringLiteral("close")));
    close->setProperty("isFlat", true);
    close->setAccessibleName(tr("Dismiss"));
    close->setToolTip(tr("Dismiss"));
    row->addWidget(close);
    connect(close, &QToolButton::clicked, this, [this, kind = message.kind] { dismiss(kind); });
    return line;
}

void MessageBar::show(Message message)
{
    dismiss(message.kind);
    QWidget *widget = lineWidget(message);
    m_layout->addWidget(widget);
    m_lines.push_back({ std::move(message), widget });
    setVisible(true);
}

void MessageBar::dismiss(const QString &kind)
{
    const auto at = std::ranges::find_if(m_lines, [&](const Line &line) { return line.message.kind == kind; });
    if (at == m_lines.end())
        return;
    at->widget->hide();
    at->widget->deleteLater(); // one of its buttons may be calling
    m_lines.erase(at);
    setVisible(!m_lines.empty());
}

QString MessageBar::text(const QString &kind) const
{
    for (const Line &line : m_lines) {
        if (line.message.kind == kind)
            return line.message.text;
    }
    return {};
}

bool MessageBar::answer(const QString &kind, int index)
{
    for (const Line &line : m_lines) {
        if (line.message.kind != kind || index >= int(line.message.answers.size()))
            continue;
        const auto run = line.message.answers[std::size_t(index)].run;
        dismiss(kind);
        if (run)
            run();
        return true;
    }
    return false;
}

} // namespace trainyard
