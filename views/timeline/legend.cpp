// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/timeline/legend.h"

#include "views/theme/job_colors.h"
#include "views/theme/theme.h"
#include "views/timeline/chart_painter.h"

#include <QFontMetrics>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QSignalBlocker>
#include <QToolButton>

#include <algorithm>
#include <utility>

namespace trainyard {

namespace {
constexpr std::size_t kMostJobButtons = 40; // wider than any screen; the menu has the rest
constexpr int kLegendHeight = 30, kSearchWidth = 210, kBetweenButtons = 2;
} // namespace

Legend::Legend(QWidget *parent)
    : QWidget(parent)
    , m_title(new QLabel(tr("Timeline"), this))
    , m_summary(new QLabel(this))
    , m_matches(new QLabel(this))
    , m_focus(new QLabel(this))
    , m_search(new QLineEdit(this))
    , m_more(new QToolButton(this))
    , m_endFocus(new QToolButton(this))
    , m_run(new RunKey(this))
    , m_shown((1u << kWorkKindCount) - 1)
{
    setFixedHeight(kLegendHeight);
    m_search->hide();
    m_matches->hide();
    m_search->setPlaceholderText(tr("backward 12, stage 3, > 50 ms"));
    m_search->setAccessibleName(tr("Search the timeline"));
    m_search->setClearButtonEnabled(true);
    m_search->installEventFilter(this);
    m_focus->hide();
    m_endFocus->hide();
    m_endFocus->setAutoRaise(true);
    m_endFocus->setFocusPolicy(Qt::TabFocus);
    m_endFocus->setText(QStringLiteral("✕"));
    m_endFocus->setToolTip(tr("Show everything again (Esc)"));
    m_endFocus->setAccessibleName(m_endFocus->toolTip());
    connect(m_endFocus, &QToolButton::clicked, this, &Legend::focusClosed);
    m_run->hide();
    connect(m_run, &RunKey::clicked, this, &Legend::runToggled);
    m_more->hide();
    m_more->setAutoRaise(true);
    m_more->setPopupMode(QToolButton::InstantPopup);
    m_more->setFocusPolicy(Qt::TabFocus);
    m_more->setMenu(new QMenu(m_more));
    connect(m_more->menu(), &QMenu::aboutToShow, this, &Legend::fillMore);
    connect(m_search, &QLineEdit::textEdited, this, &Legend::searchEdited);
    connect(m_search, &QLineEdit::returnPressed, this, &Legend::nextMatchWished);
    applyTheme();
}

void Legend::setKinds(std::uint32_t present)
{
    if (present == m_present)
        return;
    m_present = present;
    std::vector<KindButton *> before = std::exchange(m_buttons, {});
    for (int k = 0; k < kWorkKindCount; ++k) {
        const auto known = std::ranges::find(before, WorkKind(k), &KindButton::kind);
        if ((present >> k) & 1u)
            m_buttons.push_back(known != before.end() ? *known : makeButton(WorkKind(k)));
        else if (known != before.end())
            (*known)->deleteLater();
    }
    for (std::size_t i = 1; i < m_buttons.size(); ++i) // one that came later stands among them
        setTabOrder(m_buttons[i - 1], m_buttons[i]);
    arrange();
}

KindButton *Legend::makeButton(WorkKind kind)
{
    const auto k = unsigned(kind);
    auto *button = new KindButton(kind, this);
    button->setChecked((m_shown >> k) & 1u);
    connect(button, &KindButton::toggled, this, [this, k](bool on) {
        m_shown = on ? m_shown | (1u << k) : m_shown & ~(1u << k);
        arrange();
        emit shownKindsChanged(m_shown);
    });
    return button;
}

void Legend::setJobs(std::vector<JobEntry> jobs)
{
    if (jobs == m_jobs)
        return;
    m_jobs = std::move(jobs);
    for (JobButton *button : m_jobButtons) {
        button->hide();
        button->deleteLater();
    }
    m_jobButtons.clear();
    for (std::size_t i = 0; i < std::min(m_jobs.size(), kMostJobButtons); ++i) {
        auto *button = m_jobButtons.emplace_back(new JobButton(m_jobs[i], this));
        connect(button, &JobButton::clicked, this, [this, job = m_jobs[i].job] { emit jobChosen(job); });
    }
    setJob(m_job);
    arrange();
}

void Legend::setJob(int job)
{
    m_job = job;
    for (JobButton *button : m_jobButtons) {
        button->setChecked(button->job() == job);
        button->setFaded(job >= 0 && button->job() != job);
    }
}

KindButton *Legend::besideJobs() const
{
    const auto prefill = std::ranges::find(m_buttons, WorkKind::Prefill, &KindButton::kind);
    return m_jobs.empty() || prefill == m_buttons.end() ? nullptr : *prefill;
}

std::vector<QAbstractButton *> Legend::buttons() const
{
    if (m_jobs.empty())
        return { m_buttons.begin(), m_buttons.end() };
    std::vector<QAbstractButton *> all;
    if (KindButton *kind = besideJobs()) // in front: the menu behind the last job has jobs alone
        all.push_back(kind);
    all.insert(all.end(), m_jobButtons.begin(), m_jobButtons.end());
    return all;
}

void Legend::setShown(std::uint32_t kinds)
{
    kinds &= (1u << kWorkKindCount) - 1;
    if (kinds == m_shown)
        return;
    m_shown = kinds;
    for (KindButton *button : m_buttons) {
        const QSignalBlocker quiet(button);
        button->setChecked((kinds >> int(button->kind())) & 1u);
    }
    arrange();
    emit shownKindsChanged(m_shown);
}

void Legend::reset()
{
    const QSignalBlocker quiet(this);
    setShown((1u << kWorkKindCount) - 1);
    closeSearch();
}

void Legend::fillMore()
{
    QMenu *menu = m_more->menu();
    menu->clear();
    for (std::size_t i = 0; i < m_jobs.size(); ++i) {
        if (i < m_jobButtons.size() && !m_jobButtons[i]->isHidden())
            continue;
        QPixmap swatch(kLegendSwatch, kLegendSwatch);
        swatch.fill(jobColor(m_jobs[i].job));
        QAction *action = menu->addAction(swatch, m_jobs[i].name);
        action->setCheckable(true);
        action->setChecked(m_jobs[i].job == m_job);
        connect(action, &QAction::triggered, this, [this, job = m_jobs[i].job] { emit jobChosen(job); });
    }
    if (!m_jobs.empty())
        return;
    for (KindButton *button : m_buttons) {
        if (!button->isHidden())
            continue;
        QPixmap swatch(kLegendSwatch, kLegendSwatch);
        swatch.fill(theme().work(button->kind()));
        QAction *action = menu->addAction(swatch, button->text());
        action->setCheckable(true);
        action->setChecked(button->isChecked());
        connect(action, &QAction::toggled, button, &KindButton::setChecked);
    }
}

void Legend::setSummary(const QString &text)
{
    m_summary->setText(text);
    arrange();
}

void Legend::setRun(bool hasRun, bool isShown, std::uint32_t works)
{
    m_run->setVisible(hasRun);
    m_run->setChecked(isShown);
    m_run->setWorks(works);
    arrange();
}

void Legend::setTitleShown(bool shown)
{
    m_title->setVisible(shown);
    arrange();
}

void Legend::openSearch()
{
    m_search->show();
    m_matches->show();
    m_search->setFocus(Qt::ShortcutFocusReason);
    m_search->selectAll();
    arrange();
}

void Legend::closeSearch()
{
    m_search->clear();
    m_matches->clear();
    m_search->hide();
    m_matches->hide();
    arrange();
    emit searchClosed();
}

void Legend::setMatches(const QString &text)
{
    m_matches->setText(text);
    arrange();
}

void Legend::setFocusText(const QString &text, const QString &names)
{
    m_focusText = text;
    m_focus->setVisible(!text.isEmpty());
    m_focus->setToolTip(names + tr(". The largest is selected; F zooms to it, Esc shows everything again."));
    m_endFocus->setVisible(!text.isEmpty());
    arrange();
}

void Legend::arrange()
{
    int right = width() - Theme::kPad;
    const auto placeRight = [&](QWidget *widget, int wide, int high) {
        widget->setGeometry(right - wide, (height() - high) / 2, wide, high);
        right -= wide + Theme::kGap;
    };
    if (!m_search->isHidden()) {
        placeRight(m_search, std::min(kSearchWidth, width() / 3), m_search->sizeHint().height());
        placeRight(m_matches, m_matches->sizeHint().width(), m_matches->sizeHint().height());
    }
    if (!m_focus->isHidden()) {
        const QFontMetrics metrics(m_focus->font());
        m_focus->setText(metrics.elidedText(m_focusText, Qt::ElideRight, width() / 2));
        placeRight(m_endFocus, metrics.height() + 6, metrics.height() + 6);
        placeRight(m_focus, metrics.horizontalAdvance(m_focus->text()) + 2, height());
    }
    int x = Theme::kPad;
    if (!m_title->isHidden()) {
        m_title->setGeometry(x, 0, m_title->sizeHint().width(), height());
        x += m_title->width() + 2 * Theme::kGap;
    }
    int full = 0;
    const std::vector<QAbstractButton *> row = buttons();
    for (KindButton *kind : m_buttons)
        kind->setVisible(m_jobs.empty() || kind == besideJobs());
    for (const QAbstractButton *button : row)
        full += button->sizeHint().width() + kBetweenButtons;
    if (!m_run->isHidden()) { // names of its work only where the plan's kinds keep theirs
        m_run->setNamed(x + full + m_run->fullWidth() + 2 * Theme::kGap <= right);
        placeRight(m_run, m_run->sizeHint().width(), m_run->sizeHint().height());
    }
    const bool summaryFits = m_search->isHidden() && m_focus->isHidden()
        && x + full + m_summary->sizeHint().width() + 2 * Theme::kGap <= right;
    m_summary->setVisible(summaryFits);
    if (summaryFits)
        placeRight(m_summary, m_summary->sizeHint().width(), height());
    // With their words or not at all: a swatch alone says nothing.
    const QFontMetrics metrics(rowFont());
    const int moreWidth = metrics.horizontalAdvance(
                              row.size() > 36 || m_jobs.size() > 99 ? QStringLiteral("+0000") : QStringLiteral("+00"))
        + 24;
    int left = m_jobs.empty() ? 0 : int(m_jobs.size() - m_jobButtons.size()), hidden = 0;
    const int end = x + full <= right && left == 0 ? right : right - moreWidth;
    bool isFull = false;
    for (QAbstractButton *button : row) {
        const QSize size = button->sizeHint();
        isFull = isFull || x + size.width() > end;
        button->setVisible(!isFull);
        if (isFull) {
            ++left;
            hidden += button->isChecked() ? 0 : 1;
            continue;
        }
        button->setGeometry(x, (height() - size.height()) / 2, size.width(), size.height());
        x += size.width() + kBetweenButtons;
    }
    m_more->setVisible(left > 0);
    m_more->setText(QStringLiteral("+%1").arg(left));
    m_more->setToolTip(!m_jobs.empty() ? tr("%1 more jobs").arg(left)
            : hidden > 0               ? tr("%1 more kinds of work, %2 hidden").arg(left).arg(hidden)
                                       : tr("%1 more kinds of work").arg(left));
    m_more->setAccessibleName(m_more->toolTip());
    m_more->setGeometry(x, (height() - metrics.height() - 6) / 2, moreWidth, metrics.height() + 6);
}

void Legend::applyTheme()
{
    const auto color = [](QLabel *label, const QColor &ink) {
        QPalette palette = label->palette();
        palette.setColor(QPalette::WindowText, ink);
        label->setPalette(palette);
    };
    m_title->setFont(uiFont(0, QFont::DemiBold));
    m_summary->setFont(rowFont());
    m_more->setFont(rowFont());
    m_focus->setFont(uiFont(-2, QFont::DemiBold));
    m_matches->setFont(rowFont());
    color(m_title, theme().text);
    color(m_summary, theme().textFaint);
    color(m_matches, theme().textMuted);
    color(m_focus, theme().text);
}

void Legend::resizeEvent(QResizeEvent *)
{
    arrange();
}

void Legend::changeEvent(QEvent *event)
{
    if (event->type() == QEvent::PaletteChange)
        applyTheme();
    QWidget::changeEvent(event);
}

bool Legend::eventFilter(QObject *watched, QEvent *event)
{
    if (watched == m_search && event->type() == QEvent::KeyPress
        && static_cast<QKeyEvent *>(event)->key() == Qt::Key_Escape) {
        closeSearch();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace trainyard
