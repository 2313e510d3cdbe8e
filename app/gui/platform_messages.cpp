// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/platform_messages.h"

#include "core/base/printable.h"

#include <QString>
#include <QtGlobal>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace trainyard {

namespace {

QtMessageHandler handlerBefore = nullptr;
bool isPlatformAwaited = false;

/// What was said before it was known whether there is a platform: of no interest where there is none.
std::vector<std::pair<QtMsgType, QString>> heldBack;

/// "QT_QPA_PLATFORM=wayland", or which display it was.
std::string whereItWasLookedFor()
{
    std::string text;
    for (const char *name : { "QT_QPA_PLATFORM", "WAYLAND_DISPLAY", "DISPLAY" })
        if (const QByteArray value = qgetenv(name); !value.isEmpty())
            text += (text.empty() ? "" : ", ") + (name + ("=" + value.toStdString()));
    return text.empty() ? "neither DISPLAY nor WAYLAND_DISPLAY is set" : text;
}

[[noreturn]] void endWithoutDisplay()
{
    const std::string text = "trainyard: there is no display to open a window on (" + whereItWasLookedFor()
        + "); without one, trainyard --screenshot OUT.png FILE draws the window, and trainyard-cli does everything "
          "else";
    std::fprintf(stderr, "%s\n", printable(text).c_str());
    std::fflush(nullptr);
    std::_Exit(2); // the application is half made, and nothing has been begun
}

void hear(QtMsgType type, const QMessageLogContext &context, const QString &message)
{
    static const bool isAsked = qEnvironmentVariableIsSet("QT_DEBUG_PLUGINS"); // whoever looks for a fault hears all
    if (isPlatformAwaited && !isAsked) {
        if (type == QtFatalMsg)
            endWithoutDisplay();
        if (!context.category || qstrncmp(context.category, "qt.qpa", 6) != 0) // of what it tried in vain
            heldBack.emplace_back(type, message);
        return;
    }
    for (const char *idle :
        { "This plugin does not support propagateSizeHints()", "QStandardPaths: XDG_RUNTIME_DIR not set" })
        if (message.startsWith(QLatin1String(idle)))
            return;
    if (handlerBefore)
        handlerBefore(type, context, message);
}

} // namespace

PlatformMessages::PlatformMessages()
{
    isPlatformAwaited = true;
    handlerBefore = qInstallMessageHandler(hear);
}

PlatformMessages::~PlatformMessages()
{
    qInstallMessageHandler(handlerBefore);
}

void PlatformMessages::platformIsThere()
{
    isPlatformAwaited = false;
    for (const auto &[type, message] : std::exchange(heldBack, {}))
        hear(type, {}, message);
}

} // namespace trainyard
