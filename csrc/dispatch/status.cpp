#include "status.hpp"

#include <cstdarg>
#include <cstdio>

namespace amla {

Code fail(Status& status, Code code) {
    status.code = code;
    status.details = 0;
    return code;
}

Code detail(Status& status, const char* format, ...) {
    if (status.details < AMLA_MAX_DETAILS) {
        va_list values;
        va_start(values, format);
        vsnprintf(status.detail[status.details], AMLA_DETAIL_BYTES, format, values);
        va_end(values);
        status.details += 1;
    }
    return status.code;
}

Code fail3(Status& status, Code code, const char* first, const char* second, const char* third) {
    fail(status, code);
    detail(status, "%s", first);
    detail(status, "%s", second);
    return detail(status, "%s", third);
}

} // namespace amla
