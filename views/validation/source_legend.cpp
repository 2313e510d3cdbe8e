// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/validation/source_legend.h"

#include "views/panels/source_mark.h"
#include "views/parts/panel_parts.h"
#include "views/theme/theme.h"

#include <QAbstractButton>
#include <QPainter>
#include <QVBoxLayout>

namespace trainyard {

namespace {

constexpr int kMark = 14;

class LegendLine : public QAbstractButton {
public:
    LegendLine(const SourceLegend::Entry &entry, bool isChosen, QWidget *parent)
        : QAbstractButton(parent)
        , m_index(entry.index)
    {
        setText(QString::fromStdString(entry.source));
        setToolTip(text());
        setCheckable(true);
        setChecked(isChosen);
        setCursor(Qt::PointingHandCursor);
        setFont(uiFont(-1));
        setAccessibleName(SourceLegend::tr("Show only %1").arg(text()));
        setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    }
    [[nodiscard]] QSize sizeHint() const override { return { 140, fontMetrics().height() + 3 }; }

protected:
    void paintEvent(QPaintEvent *) override
    {
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        paintMark(painter, { 6, height() / 2.0 }, 7, sourceMark(m_index), false);
        painter.setPen(hasFocus() ? theme().accent : isChecked() || underMouse() ? theme().text : theme().textMuted);
        const QRect room = rect().adjusted(kMark + 2, 0, 0, 0);
        painter.drawText(
            room, Qt::AlignLeft | Qt::AlignVCenter, fontMetrics().elidedText(text(), Qt::ElideMiddle, room.width()));
    }

private:
    int m_index;
};

} // namespace

SourceLegend::SourceLegend(QWidget *parent)
    : QScrollArea(parent)
    , m_content(new QWidget)
    , m_lines(new QVBoxLayout(m_content))
{
    setAccessibleName(tr("Legend"));
    setFrameShape(QFrame::NoFrame);
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFocusPolicy(Qt::NoFocus);
    m_lines->setContentsMargins(2, 6, 4, 4);
    m_lines->setSpacing(0);
    setWidget(m_content);
}

void SourceLegend::setEntries(const std::vector<Entry> &entries, const std::string &chosen)
{
    clearLayout(m_lines);
    for (const Entry &entry : entries) {
        auto *line = new LegendLine(entry, entry.source == chosen, m_content);
        m_lines->addWidget(line);
        connect(
            line, &QAbstractButton::clicked, this, [this, name = QString::fromStdString(entry.source)](bool isChosen) {
                emit sourceChosen(isChosen ? name : QString());
            });
    }
    m_lines->addStretch(1);
}

} // namespace trainyard
