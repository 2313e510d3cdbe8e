// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/platform_messages.h"

#include "core/base/printable.h"

#include <QString>
#include <QtGlobal>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace trainyard {

namespace {

QtMessageHandler before = nullptr;
bool isStarting = false;

/// "QT_QPA_PLATFORM is “wayland”", or which display it was.
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
    if (isStarting && type == QtFatalMsg && !isAsked)
        endWithoutDisplay();
    const bool isOfPlatform = context.category && qstrncmp(context.category, "qt.qpa", 6) == 0;
    if (isStarting && isOfPlatform && type != QtFatalMsg && !isAsked)
        return;
    if (message == QLatin1String("This plugin does not support propagateSizeHints()"))
        return;
    if (before)
        before(type, context, message);
}

} // namespace

PlatformMessages::PlatformMessages()
{
    isStarting = true;
    before = qInstallMessageHandler(hear);
}

PlatformMessages::~PlatformMessages()
{
    qInstallMessageHandler(before);
}

void PlatformMessages::platformIsThere()
{
    isStarting = false;
}

} // namespace trainyard
