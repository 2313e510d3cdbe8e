#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A new plan on one sheet: regions with their GPUs, the links between them, the model, and at the foot what comes of
// it. All of it by keyboard; a model's config.json may be dropped on it. A page of the window. GUI thread; the search
// for degrees of parallelism runs in the background.

#include "models/background_queue.h"
#include "models/new_plan.h"
#include "models/new_plan_search.h"

#include <QTimer>
#include <QWidget>

#include <functional>

class QPushButton;
class QSpinBox;
class QVBoxLayout;

namespace trainyard {

class ChoiceField;
class LinkRows;
class SiteRow;
class TextLine;

class NewPlanSheet : public QWidget {
    Q_OBJECT
public:
    explicit NewPlanSheet(const Catalogue &catalogue, QWidget *parent = nullptr);
    ~NewPlanSheet() override;

    /// Starts anew, with the first region ready to be typed.
    void start();
    /// Asks for a config.json; empty where the user thought better of it.
    void setConfigChooser(std::function<QString()> choose) { m_chooseConfig = std::move(choose); }
    [[nodiscard]] const NewPlan &given() const { return m_given; }

signals:
    void created(const trainyard::PlanPtr &plan);
    void cancelled();
    /// no model's config.json: whoever opens files knows what it is
    void fileDropped(const QString &path);

protected:
    void hideEvent(QHideEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void paintEvent(QPaintEvent *event) override;

private:
    void layOut();
    void wire();
    void addSite(const NewSite &site);
    void removeSite(SiteRow *row);
    /// from the rows, and what follows from it
    void gather();
    void orderTabs();
    void showPreview();
    void useConfig(const QString &path);
    void takeDropped(const QString &path);
    void create();
    void finish();
    void cancel();
    /// nobody waits for a plan any more
    void stopCreating();

    const Catalogue &m_catalogue;
    NewPlan m_given;
    std::function<QString()> m_chooseConfig;
    QString m_configFault;
    std::vector<SiteRow *> m_rows;
    QVBoxLayout *m_sites;
    LinkRows *m_links;
    QWidget *m_linkSection;
    ChoiceField *m_model;
    QSpinBox *m_sequence, *m_batch;
    QPushButton *m_addSite, *m_config, *m_cancel, *m_create;
    TextLine *m_preview, *m_details;
    /// how long Create waits for a better split
    QTimer m_patience;
    bool m_isCreating = false;
    NewPlanSearch m_search;
    /// last: its jobs use what is above
    BackgroundQueue m_queue;
};

} // namespace trainyard
