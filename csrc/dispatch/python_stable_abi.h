/* The part of CPython's limited API (3.10, PEP 384) that this extension uses, declared from its documentation.
 *
 * CPython's own headers are not needed to build, so they cannot change the bytes of the build either. Everything here is in
 * the stable ABI, whose layout and signatures CPython keeps for all later versions (checked with abi3audit).
 */
#ifndef AMLA_PYTHON_STABLE_ABI_H
#define AMLA_PYTHON_STABLE_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef intptr_t Py_ssize_t;
typedef struct PyTypeObject PyTypeObject;

/* Head of every object in builds with the GIL. */
typedef struct PyObject {
    Py_ssize_t ob_refcnt;
    PyTypeObject* ob_type;
} PyObject;

typedef PyObject* (*PyCFunction)(PyObject* self, PyObject* args);
typedef PyObject* (*PyCFunctionFast)(PyObject* self, PyObject* const* args, Py_ssize_t nargs);
typedef int (*visitproc)(PyObject* object, void* argument);
typedef int (*traverseproc)(PyObject* self, visitproc visit, void* argument);
typedef int (*inquiry)(PyObject* self);
typedef void (*freefunc)(void* self);

typedef struct PyMethodDef {
    const char* ml_name;
    PyCFunction ml_meth;
    int ml_flags;
    const char* ml_doc;
} PyMethodDef;

enum { METH_FASTCALL = 0x0080 };

typedef struct PyModuleDef_Slot {
    int slot;
    void* value;
} PyModuleDef_Slot;

enum { Py_mod_exec = 2 };

typedef struct PyModuleDef_Base {
    PyObject ob_base;
    PyObject* (*m_init)(void);
    Py_ssize_t m_index;
    PyObject* m_copy;
} PyModuleDef_Base;

typedef struct PyModuleDef {
    PyModuleDef_Base m_base;
    const char* m_name;
    const char* m_doc;
    Py_ssize_t m_size;
    PyMethodDef* m_methods;
    PyModuleDef_Slot* m_slots;
    traverseproc m_traverse;
    inquiry m_clear;
    freefunc m_free;
} PyModuleDef;

typedef struct PyThreadState PyThreadState;

extern PyObject _Py_NoneStruct;
extern PyObject _Py_TrueStruct;
extern PyObject _Py_FalseStruct;
extern PyObject* PyExc_RuntimeError;
extern PyObject* PyExc_TypeError;

void Py_IncRef(PyObject* object);
void Py_DecRef(PyObject* object);

PyObject* PyModuleDef_Init(PyModuleDef* definition);
void* PyModule_GetState(PyObject* module);
int PyModule_AddIntConstant(PyObject* module, const char* name, long value);

PyObject* PyObject_GetAttrString(PyObject* object, const char* name);
int PyObject_SetAttrString(PyObject* object, const char* name, PyObject* value);
PyObject* PyObject_CallFunctionObjArgs(PyObject* callable, ...);
PyObject* PyObject_Str(PyObject* object);
int PyObject_IsTrue(PyObject* object);
PyObject* PyMapping_GetItemString(PyObject* object, const char* key);

PyObject* PyErr_Occurred(void);
void PyErr_Clear(void);
void PyErr_SetObject(PyObject* type, PyObject* value);
void PyErr_SetString(PyObject* type, const char* message);
PyObject* PyErr_Format(PyObject* type, const char* format, ...);
void PyErr_Fetch(PyObject** type, PyObject** value, PyObject** traceback);
PyObject* PyErr_NoMemory(void);

PyObject* PyLong_FromLongLong(long long value);
long long PyLong_AsLongLongAndOverflow(PyObject* object, int* overflow);
void* PyLong_AsVoidPtr(PyObject* object);
double PyFloat_AsDouble(PyObject* object);

PyObject* PyUnicode_FromString(const char* text);
PyObject* PyUnicode_DecodeFSDefault(const char* text);
int PyUnicode_FSConverter(PyObject* object, void* result);
const char* PyUnicode_AsUTF8AndSize(PyObject* object, Py_ssize_t* size);

PyObject* PyBytes_FromStringAndSize(const char* bytes, Py_ssize_t size);
int PyBytes_AsStringAndSize(PyObject* object, char** bytes, Py_ssize_t* size);
char* PyBytes_AsString(PyObject* object);

PyObject* PyTuple_New(Py_ssize_t size);
int PyTuple_SetItem(PyObject* tuple, Py_ssize_t position, PyObject* item);
PyObject* PyDict_New(void);
int PyDict_SetItemString(PyObject* dictionary, const char* key, PyObject* item);

void* PyCapsule_GetPointer(PyObject* capsule, const char* name);

PyThreadState* PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState* state);

#ifdef __cplusplus
}
#endif
#endif
