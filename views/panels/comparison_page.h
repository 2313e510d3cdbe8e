#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A page that compares alternatives to the plan that the document has: its head with CSV and picture, one sentence of
// result over the parts side by side, or why there is nothing. What is compared, subclasses say; they work it out only
// while the page is in sight. GUI thread.

#include "core/facts/plan/plan.h"
#include "views/parts/text_line.h"

class QHBoxLayout;
class QPushButton;
class QToolButton;

namespace trainyard {

class ComparisonPage : public QWidget {
    Q_OBJECT
public:
    /// the document's
    void setPlan(const PlanPtr &plan, const QString &name);
    [[nodiscard]] QString toTsv() const { return table(u'\t'); }

    QPushButton *const back, *const exportCsv;
    QToolButton *const picture;

Q_SIGNALS:
    void closed();
    /// all that is compared is there, or why nothing is
    void completed();

protected:
    struct Words {
        QString accessibleName, title;
        /// "%1 experts", of a plan's name
        QString pictureOf;
        /// of the CSV, without its ending
        QString exportOf, fileName;
        /// while nothing is there yet
        QString running;
    };
    ComparisonPage(Words words, QWidget *parent);

    virtual void follow(const PlanPtr &plan) = 0;
    virtual void watch(bool isWatched) = 0;
    virtual void refresh() = 0;
    /// With a header line; empty where nothing is compared.
    [[nodiscard]] virtual QString table(QChar separator) const = 0;

    /// Where the parts go, from left to right.
    [[nodiscard]] QHBoxLayout *parts() const { return m_parts; }
    /// `nothing`: why there is nothing to compare, if that is known. `about`: the right end of the head.
    void showState(bool hasAny, const QString &nothing, const QString &about);

    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

    PlanPtr m_plan;
    QWidget *m_body;
    TextLine *m_result;

private:
    void saveCsv();

    Words m_words;
    QString m_name;
    TextLine *m_title, *m_about, *m_empty;
    QWidget *m_nothing;
    QHBoxLayout *m_parts;
};

} // namespace trainyard
