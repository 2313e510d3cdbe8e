// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/session/variant_strip.h"

#include "models/session/session_document.h"
#include "models/session/variant_figures.h"
#include "models/session/variant_words.h"
#include "models/text/foreign_text.h"
#include "views/session/variant_color.h"
#include "views/theme/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QScrollArea>
#include <QToolButton>

#include <algorithm>

namespace trainyard {

namespace {

constexpr int kNameBytes = 28; // of a chip; the tooltip has all

} // namespace

VariantStrip::VariantStrip(SessionDocument &session, VariantFigures &figures, QWidget *parent)
    : QWidget(parent)
    , branch(new QToolButton(this))
    , board(new QToolButton(this))
    , m_session(session)
    , m_figures(figures)
    , m_chips(new QHBoxLayout)
    , m_area(new QScrollArea(this))
{
    setAccessibleName(tr("Variants"));
    branch->setText(tr("+ Variant"));
    branch->setToolTip(tr("A copy of the plan that is shown becomes a variant of its own."));
    board->setText(tr("Board"));
    board->setToolTip(tr("All variants as cards, and the decisions."));
    auto *layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(Theme::kGap);
    auto *host = new QWidget;
    auto *row = new QHBoxLayout(host);
    row->setContentsMargins(0, 0, 0, 0);
    m_chips->setSpacing(4);
    row->addLayout(m_chips);
    row->addStretch(1);
    m_area->setWidget(host);
    m_area->setWidgetResizable(true);
    m_area->setFrameShape(QFrame::NoFrame);
    m_area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_area->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_area->setFocusPolicy(Qt::NoFocus);
    m_area->viewport()->setAutoFillBackground(false);
    host->setAutoFillBackground(false);
    layout->addWidget(m_area, 1);
    layout->addWidget(branch);
    layout->addWidget(board);
    connect(branch, &QToolButton::clicked, this, &VariantStrip::branchRequested);
    connect(board, &QToolButton::clicked, this, &VariantStrip::boardRequested);
    connect(&session, &SessionDocument::changed, this, &VariantStrip::fill);
    connect(&figures, &VariantFigures::figuresChanged, this, &VariantStrip::refresh);
    fill();
}

QToolButton *VariantStrip::chip(const std::string &id) const
{
    for (std::size_t i = 0; i < m_ids.size(); ++i)
        if (m_ids[i] == id)
            return m_buttons[i];
    return nullptr;
}

void VariantStrip::fill()
{
    const std::vector<Variant> &all = m_session.variants();
    std::vector<std::string> ids;
    for (const Variant &one : all)
        ids.push_back(one.id);
    if (ids != m_ids) {
        for (QToolButton *button : m_buttons) {
            m_chips->removeWidget(button);
            button->hide();
            button->deleteLater();
        }
        m_buttons.clear();
        m_ids = ids;
        for (const std::string &id : ids) {
            auto *button = new QToolButton(m_area->widget());
            button->setCheckable(true);
            button->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
            connect(button, &QToolButton::clicked, this, [this, id, button] {
                button->setChecked(true); // a click on the one that is shown
                m_session.show(id);
            });
            m_chips->addWidget(button);
            m_buttons.push_back(button);
        }
    }
    setVisible(m_session.isMeeting());
    refresh();
}

void VariantStrip::refresh()
{
    if (isHidden())
        return;
    const std::vector<Variant> &all = m_session.variants();
    const Variant *baseline = m_session.value().variant(m_session.value().baseline);
    const PlanFigures *base = baseline ? m_figures.of(baseline->plan) : nullptr;
    for (std::size_t i = 0; i < m_buttons.size() && i < all.size(); ++i) {
        const Variant &one = all[i];
        const PlanFigures *figures = m_figures.of(one.plan);
        const QString name = foreignText(QString::fromStdString(one.name), kNameBytes);
        QString text = QString(name).replace(u'&', QStringLiteral("&&"));
        if (figures)
            text += QStringLiteral("  ") + iterationOf(figures);
        const QString change = changeAgainst(base, figures);
        if (!change.isEmpty())
            text += QStringLiteral(" (") + change + u')';
        m_buttons[i]->setText(text);
        m_buttons[i]->setIcon(variantDot(variantColor(one, int(i)), devicePixelRatioF()));
        m_buttons[i]->setChecked(one.id == m_session.current());
        QStringList lines { foreignText(QString::fromStdString(one.name)) };
        if (&one == baseline)
            lines << tr("The baseline: others are compared with it.");
        for (const QString &line : { priceOf(figures), memoryOf(figures), QString::fromStdString(one.note) })
            if (!line.isEmpty())
                lines << line;
        m_buttons[i]->setToolTip(plainTip(lines.join(u'\n')));
        m_buttons[i]->setAccessibleName(tr("Variant %1").arg(lines.front()));
    }
    reveal();
}

void VariantStrip::reveal()
{
    if (m_buttons.empty())
        return;
    constexpr int kFrame = 2; // round a focused chip
    const int height = std::max(branch->sizeHint().height(), m_buttons.front()->sizeHint().height()) + kFrame;
    m_area->setFixedHeight(height);
    setFixedHeight(height);
    m_area->widget()->adjustSize();
    if (QToolButton *shown = chip(m_session.current()))
        m_area->ensureWidgetVisible(shown, Theme::kGap, 0);
}

void VariantStrip::resizeEvent(QResizeEvent *event)
{
    QWidget::resizeEvent(event);
    reveal();
}

void VariantStrip::changeEvent(QEvent *event)
{
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange)
        refresh();
}

} // namespace trainyard
