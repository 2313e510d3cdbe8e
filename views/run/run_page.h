#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Plan against run: what was recorded laid beside what the plan says, step by step. Where the time went, who slows the
// run down, curves over its steps, and what every file gave. Reads the document of the run and asks it for steps and
// ranks. GUI thread.

#include "models/run_document.h"

#include <QWidget>

#include <utility>

class QComboBox;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace trainyard {

class DifferenceBars;
class EvidenceTable;
class Invitation;
class LoadedRuns;
class ProfileCard;
class RankStrip;
class RunChips;
class RunPlot;
class RunProfile;
class SentenceList;
class StepScrubber;
class TabbedCard;
class TextLine;
class TextTableModel;
class TraceCard;
class VerdictSection;

class RunPage : public QWidget {
    Q_OBJECT
public:
    explicit RunPage(RunDocument &runs, QWidget *parent = nullptr);

    /// Beside the curves, behind a tab: what else there is to say of the run.
    void addTab(QWidget *content, const QString &title);
    void showTab(QWidget *content);
    /// In sight where no run is open, below what may be dropped.
    void addToInvitation(QWidget *content);

    /// All of them are drawn over their steps, and one can be chosen to be shown. Once.
    void setLoadedRuns(LoadedRuns &loaded);
    /// null without them
    [[nodiscard]] RunChips *chips() const { return m_chips; }

    /// the differences
    [[nodiscard]] QString toTsv() const;
    void setPlanName(const QString &name);
    /// the list of sources
    void setFolded(bool isFolded);

    QPushButton *const back, *const exportCsv;
    /// run: its menu is the window's
    QToolButton *const run, *const picture, *const fold;
    StepScrubber *const scrubber;
    QComboBox *const ranks, *const quantity;
    DifferenceBars *const bars;
    RankStrip *const strip;
    RunPlot *const stepPlot, *const otherPlot;
    SentenceList *const suspects, *const clocks, *const notes;
    EvidenceTable *const sources;
    Invitation *const invitation;
    VerdictSection *const verdict;
    TabbedCard *const tabs;
    RunProfile *const profile;
    ProfileCard *const kernels;
    TraceCard *const trace;
    /// the sentence about the step
    [[nodiscard]] QString result() const;

Q_SIGNALS:
    void closed();

protected:
    void showEvent(QShowEvent *event) override;

private:
    void arrange();
    [[nodiscard]] QWidget *makeHead();
    [[nodiscard]] QWidget *makeFindings();
    [[nodiscard]] QWidget *makePlots();
    [[nodiscard]] QWidget *makeSources();
    void connectParts();
    /// another one
    void showRun();
    void showOverlay();
    void showStep();
    void showQuantity();
    void fillRanks();
    void fillQuantities();
    void fillQuantityNames();
    void showOthers();
    /// the run goes on
    void showUpdated();
    void fillSources();
    void showOverview();
    void saveCsv();

    RunDocument &m_runs;
    LoadedRuns *m_loaded = nullptr;
    RunChips *m_chips = nullptr;
    QString m_planName;
    std::size_t m_ranksListed = 0;
    /// first and last of the run that is shown
    std::pair<double, double> m_steps;
    /// what a live run told while nobody looked
    bool m_isOwed = false;
    TextLine *m_title, *m_overview, *m_result, *m_step, *m_rankLabel, *m_missing, *m_plotsEmpty, *m_stepTitle,
        *m_legend;
    TextLine *m_noSuspects;
    SentenceList *m_captions;
    TextTableModel *m_sourceRows;
    QWidget *m_body, *m_plots, *m_other, *m_curves = nullptr, *m_noRun;
};

} // namespace trainyard
