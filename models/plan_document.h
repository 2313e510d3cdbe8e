#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The plan that the window shows: current value, undo stack, the preview of a gesture under way, another plan that is
// tried in its place, and its file. Views hand it the next plan and never change one. GUI thread; files are read and
// written in the background.
//
//   document.preview(next, "Move 8 GPUs Virginia → Oregon");   // while a drag hovers; the stack is not touched
//   document.apply(next);                                       // on release: one step to undo, named by its
//   difference

#include "models/plan_store.h"
#include "models/recovery.h"

#include <QUndoGroup>
#include <QUndoStack>

namespace trainyard {

/// A plan that is worked on, with its file and its edits: what each variant of a session has for itself. A value that
/// is handed on; one owner at a time.
struct PlanWork {
    /// never null in a document
    PlanPtr plan;
    /// as in its file, or as it was started; null where no file has it
    PlanPtr saved;
    /// empty: it has no file
    QString path;
    /// fingerprint of the file's content as last read or written (PlanStore)
    QByteArray known;
    /// it was changed or removed by another program
    bool doesFileDiffer = false;
    /// null: none yet
    std::shared_ptr<QUndoStack> edits;
    /// id of the variant that it is of, by which unsaved work is kept; empty: of the only one
    QString variant;
    /// UnsavedWork::about
    QString about = {};

    /// The plan is not the one last read or saved.
    [[nodiscard]] bool isEdited() const { return !saved || (saved != plan && *saved != *plan); }
    /// Something would be lost with it.
    [[nodiscard]] bool isModified() const { return doesFileDiffer || isEdited(); }
};

/// As it is kept for recovery.
[[nodiscard]] UnsavedWork unsavedWorkOf(const PlanWork &work);

class PlanDocument : public QObject {
    Q_OBJECT
public:
    /// `stateFolder`: where unsaved work is kept for crash recovery.
    PlanDocument(PlanPtr plan, const QString &stateFolder, QObject *parent = nullptr);
    ~PlanDocument() override;

    [[nodiscard]] const PlanPtr &plan() const { return m_plan; }
    /// What the views show: the preview while there is one, then the plan that is tried.
    [[nodiscard]] const PlanPtr &shownPlan() const { return m_preview ? m_preview : m_trial ? m_trial : m_plan; }
    [[nodiscard]] bool isPreviewing() const { return m_preview || m_trial; }
    /// What edits start from: the plan that is tried, or the plan.
    [[nodiscard]] const PlanPtr &basePlan() const { return m_trial ? m_trial : m_plan; }
    [[nodiscard]] const QString &previewText() const { return m_preview ? m_previewText : m_trialText; }
    /// The plan that is tried; null where none is.
    [[nodiscard]] const PlanPtr &trial() const { return m_trial; }
    [[nodiscard]] const QString &trialText() const { return m_trialText; }
    /// of the edits of this plan; another one after exchange()
    [[nodiscard]] QUndoStack &undoStack() { return *m_stack; }
    /// follows the stack of the plan that is shown: for commands that undo and redo
    [[nodiscard]] QUndoGroup &undoGroup() { return m_group; }
    [[nodiscard]] const QString &path() const { return m_path; }
    /// Something would be lost with this window: edits, or a plan that its file no longer holds.
    [[nodiscard]] bool isModified() const { return m_isModified; }
    /// The plan is not the one last read or saved.
    [[nodiscard]] bool isEdited() const;
    [[nodiscard]] QString displayName() const;

    /// Makes `next` the plan: one step to undo. An equal plan only ends a preview. Without a text the difference names
    /// it. Successive steps with the same merge key (a slider, a spin box) are one step, and none where they end at
    /// their origin.
    void apply(PlanPtr next, const QString &text = {}, const QString &mergeKey = {});
    /// An edit of the plan that is shown: where one is tried, it is adopted first, a step of its own.
    void edit(const PlanPtr &next, const QString &text = {}, const QString &mergeKey = {});
    void preview(PlanPtr next, const QString &text);
    void endPreview();
    /// Shows another plan in place of this one until it is adopted or left; the stack is not touched. Previews of
    /// gestures come and go above it; edit() adopts it, apply() ends it.
    void tryPlan(PlanPtr trial, const QString &text);
    void leaveTrial();
    /// The tried plan is the plan: one step to undo.
    void adoptTrial();

    /// Untitled and unmodified: a plan that is elsewhere as well, as a sample is.
    void startNew(PlanPtr plan);
    /// Untitled, and nowhere but in this window: it is unsaved work from the start, asked for and kept for recovery.
    void create(PlanPtr plan);
    /// What its file holds or, without one, the plan before the first edit: what differences are told against.
    [[nodiscard]] PlanPtr opening() const;
    void open(const QString &path);
    /// the plan of a file, untitled: a sample
    void openAsNew(const QString &path);
    /// needs a path
    void save();
    void saveAs(const QString &path);
    /// over what another program wrote, too
    void saveOver();
    /// The plan as it is here stays, whatever another program wrote: the next save writes over it.
    void keepMine() { m_store.acceptChange(); }
    /// with the edits that led to it, to be undone
    void restore(const RecoveredPlan &recovered);
    /// Shows other work in place of this, which is handed out with its edits: from variant to variant. A preview and a
    /// trial end. `isReplacement`: as if it had been opened.
    PlanWork exchange(PlanWork next, bool isReplacement = false);
    /// A change from elsewhere to work that rests: a step to undo there, and held where it comes from.
    void amend(PlanWork &work, const PlanPtr &next, const QString &text);
    /// What the session says of this plan and has nowhere else (UnsavedWork::about).
    void setAbout(const QString &about);
    /// What is being written is, before anything takes this plan's place: its answer is this plan's.
    void finishWriting() { m_store.finishWriting(); }
    /// Its file again, as a step that can be undone: what is here may be nowhere else.
    void readAgain();
    /// What exchange() would hand out, its edits shared.
    [[nodiscard]] PlanWork work() const;
    /// While replacing() is told: what is here is handed out with its edits; what comes has none, and is that
    /// variant's.
    PlanWork leaveWork(const QString &variant);
    /// Another file than the plan's own holds that plan now: it is not lost with this window.
    void holdElsewhere(const PlanPtr &plan);
    [[nodiscard]] Recovery &recovery() { return m_recovery; }
    /// Nothing is to be recovered: saved, or given up knowingly.
    void forgetUnsavedWork() { m_recovery.forget(); }

signals:
    void planChanged(const trainyard::PlanPtr &plan);
    void shownPlanChanged(const trainyard::PlanPtr &plan, bool isPreview);
    /// Null: none is tried any more.
    void trialChanged(const trainyard::PlanPtr &trial);
    void modifiedChanged(bool isModified);
    void pathChanged(const QString &path);
    /// Another plan is about to take the place of this one; `isNew`: not the same file, read again.
    void replacing(bool isNew);
    /// Another plan took the place of the last, rather than an edit of it.
    void replaced(const trainyard::PlanPtr &plan);
    /// Other work is shown; its edits are those of undoStack() now. Comes after planChanged().
    void exchanged(const trainyard::PlanPtr &plan);
    void saved(const QString &path);
    void openFailed(const QString &path, const trainyard::Errors &errors);
    void saveFailed(const QString &path, const trainyard::Errors &errors);
    void changedOnDisk(const QString &path);
    void removedOnDisk(const QString &path);
    /// save() has written nothing: another program has changed the file since.
    void saveWouldOverwrite(const QString &path);

private:
    void show(const PlanPtr &plan);
    void forgetTrial();
    void replace(const PlanPtr &plan, const PlanPtr &savedPlan, const QString &path);
    void updateModified();
    /// Tells recovery how things stand: after each change, once the undo stack has it.
    void keepWork();
    /// it was changed or removed by another program
    void fileDiffers();

    /// m_saved: as in the file, or as started; null where no file has it
    PlanPtr m_plan, m_preview, m_trial, m_saved;
    QString m_previewText, m_trialText, m_path;
    /// path of a file whose plan becomes an untitled one
    QString m_readingAsNew;
    /// path of a file whose plan becomes an edit
    QString m_readingAgain;
    bool m_isModified = false, m_doesFileDiffer = false;
    /// the stack is filled with edits that were made before
    bool m_isRestoring = false;
    /// stacks change hands, which is no edit
    bool m_isExchanging = false;
    /// empty: of the only one
    QString m_variant;
    QString m_about;
    /// never null
    std::shared_ptr<QUndoStack> m_stack = std::make_shared<QUndoStack>();
    QUndoGroup m_group;
    PlanStore m_store;
    Recovery m_recovery;
};

} // namespace trainyard
