#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What a design meeting works on: variants of a plan, of which the window shows one, a baseline, and the log of
// decisions. The document (models/plan_document.h) is the view of the current variant; the others rest here, each with
// its edits, its file and its fingerprint. A window has one session; with one variant and no file it is a window with a
// plan, as ever. GUI thread; files are read and written in the background.
//
//   session.branch();                      // a copy of what is shown, behind it, becomes the current variant
//   session.show("v2");                    // another one, with its own undo
//   session.decide("B, because the link to Oregon is the limit", "v2");

#include "models/plan_document.h"
#include "models/session/session_store.h"

#include <functional>
#include <map>
#include <optional>

namespace trainyard {

class SessionDocument : public QObject {
    Q_OBJECT
public:
    explicit SessionDocument(PlanDocument &document, QObject *parent = nullptr);
    ~SessionDocument() override;

    /// As it is now. The current variant's plan is the document's.
    [[nodiscard]] const Session &value() const { return m_session; }
    [[nodiscard]] const std::vector<Variant> &variants() const { return m_session.variants; }
    /// id of the variant that the window shows; never empty
    [[nodiscard]] const std::string &current() const { return m_current; }
    [[nodiscard]] const Variant &currentVariant() const { return *m_session.variant(m_current); }
    /// There is more than a plan: other variants, decisions, or a session's file.
    [[nodiscard]] bool isMeeting() const;
    /// of the session's file; empty: it has none
    [[nodiscard]] const QString &path() const { return m_path; }
    /// Something would be lost with this window.
    [[nodiscard]] bool isModified() const;
    /// The variant whose plan is that file; empty: none is.
    [[nodiscard]] std::string variantOf(const QString &planPath) const;
    /// What the session's file is saved with: "Berlin.trainyard-session", or the current variant's name.
    [[nodiscard]] QString displayName() const;
    /// What would be lost, by name: the session's, or without a file of its own each variant that is edited.
    [[nodiscard]] QStringList unsavedNames() const;

    /// What was kept of a variant that has just been restored: its name, its note, and decisions that are not here.
    void takeAbout(const QString &about);
    /// All variants that were kept of a meeting, in its order, with names, notes, decisions and, where there is none
    /// here, the baseline; the one that was worked on last is shown.
    void restore(std::vector<RecoveredPlan> meeting);

    /// A copy of the plan that is shown (also one that is only tried, which stays what it was), behind the current
    /// variant: it becomes the current one, and nothing to undo is in it. Returns its id.
    std::string branch(const QString &name = {});
    /// A plan from elsewhere as a variant, behind the current one, which stays shown.
    std::string add(const PlanPtr &plan, const QString &name);
    void show(const std::string &id);
    /// 1: the next of the board, -1: the one before; from the last to the first.
    void showNext(int step);
    void rename(const std::string &id, const QString &name);
    /// "#1f77b4"; empty: by its place on the board.
    void setColor(const std::string &id, const QString &color);
    void setNote(const std::string &id, const QString &note);
    /// `place` on the board, from 0
    void move(const std::string &id, int place);
    /// Not the last one. What was removed last can be brought back, with its edits.
    void remove(const std::string &id);
    [[nodiscard]] bool canRestore() const { return m_removed.has_value(); }
    void restoreRemoved();
    /// Empty: none.
    void setBaseline(const std::string &id);
    void decide(const QString &text, const std::string &id = {});
    void removeDecision(std::size_t index);
    /// Called before another variant is shown or made: what is typed becomes part of the one that is.
    void setCommitter(std::function<void()> commit) { m_commit = std::move(commit); }
    /// What the window shows, as JSON, saved with the session: asked for when it is saved.
    void setViewSource(std::function<std::string()> view) { m_view = std::move(view); }

    /// Takes the place of all that is here.
    void open(const QString &path);
    /// needs a path
    void save() { saveAs(m_path); }
    void saveAs(const QString &path);
    /// What another program has made of the file comes in, as a save would take it.
    void takeOthers();

signals:
    /// Names, notes, plans, order, baseline or decisions have changed.
    void changed();
    void currentChanged(const std::string &id);
    void modifiedChanged(bool isModified);
    void opened(const QString &path);
    /// `view`: what was saved with setViewSource()'s answer
    void viewRead(const std::string &view);
    void saved(const QString &path);
    void openFailed(const QString &path, const trainyard::Errors &errors);
    void saveFailed(const QString &path, const trainyard::Errors &errors);
    /// Another program has written the session's file; sentences of what it did.
    void changedByOthers(const QStringList &what);
    /// The session's file is gone.
    void removedByOthers(const QString &path);
    /// What others did came in with a save or takeOthers(); `keptTwice`: variants that both had changed.
    void othersTaken(const QStringList &what, const QStringList &keptTwice);

private:
    struct Removed {
        Variant variant;
        PlanWork work;
        std::size_t place = 0;
        bool wasBaseline = false;
    };
    [[nodiscard]] Variant *find(const std::string &id);
    void startAlone();
    /// The document is about to show another plan in place of the current variant's: does it become a variant?
    void makeRoom(bool isNew);
    void replaced(const PlanPtr &plan);
    void take(const Session &session);
    void holdsPlansOf(const Session &asked);
    void taken(const SessionMerge &merge, const Session &asked);
    void adopt(const Session &next);
    void noteChange();
    /// What no file has of it, for recovery.
    void keepAbout(bool isKept);
    /// What the document has under way belongs to the variant that is shown still.
    void settle();
    [[nodiscard]] Session toSave() const;

    PlanDocument &m_document;
    Session m_session;
    std::string m_current;
    /// of the variants that are not shown
    std::map<std::string, PlanWork, std::less<>> m_works;
    std::optional<Removed> m_removed;
    /// as in its file or, without one, as it was when there was last nothing to lose
    Session m_saved;
    QString m_path;
    /// the name that the current variant got from its plan
    std::string m_nameOfPlan;
    bool m_isModified = false, m_isSwitching = false, m_isFileGone = false;
    /// what is restored makes no room for what else is
    bool m_keepsAll = false;
    /// to be written, and to be opened, when what is being written is; empty: nothing
    QString m_nextPath, m_nextOpen;
    std::function<std::string()> m_view;
    std::function<void()> m_commit;
    SessionStore m_store;
};

} // namespace trainyard
