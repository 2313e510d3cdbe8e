// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/panels/comparison_page.h"

#include "views/export/file_target.h"
#include "views/export/panel_menu.h"
#include "views/export/panel_picture.h"
#include "views/panels/card.h"
#include "views/parts/page_head.h"
#include "views/theme/theme.h"

#include <QMenu>
#include <QPushButton>
#include <QShortcut>
#include <QToolButton>
#include <QVBoxLayout>

namespace trainyard {

ComparisonPage::ComparisonPage(Words words, QWidget *parent)
    : QWidget(parent)
    , back(new QPushButton(tr("‹ Back to the plan"), this))
    , exportCsv(new QPushButton(tr("Export CSV…"), this))
    , picture(new QToolButton(this))
    , m_body(new QWidget(this))
    , m_result(wrappedLine(Ink::Text, this))
    , m_words(std::move(words))
    , m_title(new TextLine(m_words.title, Ink::Text, this))
    , m_about(new TextLine({}, Ink::Muted, this))
    , m_empty(wrappedLine(Ink::Muted, this))
    , m_nothing(new Card(m_empty, this))
    , m_parts(new QHBoxLayout)
{
    setAccessibleName(m_words.accessibleName);
    setFocusPolicy(Qt::ClickFocus); // keys are this page's, whatever was clicked last
    dressPictureButton(picture);
    auto *menu = new QMenu(picture);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        addPictureActions(*menu, m_body, m_words.pictureOf.arg(m_name));
    });
    picture->setMenu(menu);
    m_result->setFont(uiFont(1));
    m_empty->setAlignment(Qt::AlignCenter);
    m_parts->setContentsMargins(0, 0, 0, 0);
    m_parts->setSpacing(Theme::kGap);
    auto *body = new QVBoxLayout(m_body);
    body->setContentsMargins(0, 0, 0, 0);
    body->setSpacing(Theme::kGap);
    body->addWidget(m_result);
    body->addLayout(m_parts, 1);
    auto *column = pageColumn(this, pageHead(back, m_title, m_about, { exportCsv, picture }));
    column->addWidget(m_body, 1);
    column->addWidget(m_nothing, 1);
    setPanelTable(m_body, [this] { return toTsv(); });
    connect(back, &QPushButton::clicked, this, &ComparisonPage::closed);
    connect(exportCsv, &QPushButton::clicked, this, &ComparisonPage::saveCsv);
    auto *escape = new QShortcut(QKeySequence(Qt::Key_Escape), this, nullptr, nullptr, Qt::WidgetWithChildrenShortcut);
    connect(escape, &QShortcut::activated, this, &ComparisonPage::closed);
}

void ComparisonPage::setPlan(const PlanPtr &plan, const QString &name)
{
    m_name = name;
    m_plan = plan;
    follow(plan);
    refresh();
}

void ComparisonPage::showState(bool hasAny, const QString &nothing, const QString &about)
{
    m_body->setVisible(hasAny);
    m_nothing->setVisible(!hasAny);
    exportCsv->setEnabled(hasAny);
    picture->setEnabled(hasAny);
    m_empty->setText(nothing.isEmpty() ? m_words.running : nothing + u'.');
    m_about->setText(about);
}

void ComparisonPage::saveCsv()
{
    FileTarget *target = FileTarget::of(this);
    const QByteArray csv = table(u',').toUtf8(); // as it is now, not after the dialog
    if (!target || csv.isEmpty())
        return;
    const QString path = target->ask(m_words.exportOf, m_words.fileName + QStringLiteral(".csv"),
        QStringLiteral(".csv"), tr("Comma-separated values (*.csv)"));
    if (!path.isEmpty())
        target->write(tr("Comparison"), path, csv);
}

void ComparisonPage::showEvent(QShowEvent *event)
{
    QWidget::showEvent(event);
    watch(true);
}

void ComparisonPage::hideEvent(QHideEvent *event)
{
    QWidget::hideEvent(event);
    watch(false);
}

} // namespace trainyard
