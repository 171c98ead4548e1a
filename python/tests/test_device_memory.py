"""The memory that two processes share, and what its structs must look like to HIP's driver."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pathlib
import shutil
import subprocess

import pytest
import torch

from pragma_torch import device_memory
from pragma_torch.arena import Arena, make_arena

HEADERS = pathlib.Path(os.environ.get("PRAGMA_HIP_INCLUDE", "/usr/include"))
HIP = HEADERS / "hip" / "hip_runtime_api.h"
FIELDS_SINCE = 6  # the major version of HIP whose properties of an allocation are CUDA's

PROGRAM = """
#include <hip/hip_runtime_api.h>
#include <stddef.h>
#include <stdio.h>
int main(void) {
  printf("version %d\\n", HIP_VERSION_MAJOR);
  printf("constants %d %d %d %d %d\\n", hipMemAllocationTypePinned, hipMemLocationTypeDevice,
         hipMemHandleTypePosixFileDescriptor, hipMemAccessFlagsProtRead, hipMemAccessFlagsProtReadWrite);
  printf("out_of_memory %d\\n", hipErrorOutOfMemory);
  printf("access %zu %zu %zu\\n", sizeof(hipMemAccessDesc), offsetof(hipMemAccessDesc, location),
         offsetof(hipMemAccessDesc, flags));
  printf("location %zu %zu %zu\\n", sizeof(hipMemLocation), offsetof(hipMemLocation, type),
         offsetof(hipMemLocation, id));
  printf("properties %zu %zu %zu\\n", sizeof(hipMemAllocationProp), offsetof(hipMemAllocationProp, type),
         offsetof(hipMemAllocationProp, location));
  /* Each assignment compiles only if the function takes what DriverMemory passes. */
  hipError_t (*create)(hipMemGenericAllocationHandle_t*, size_t, const hipMemAllocationProp*, unsigned long long) =
      hipMemCreate;
  hipError_t (*export)(void*, hipMemGenericAllocationHandle_t, hipMemAllocationHandleType, unsigned long long) =
      hipMemExportToShareableHandle;
  hipError_t (*import)(hipMemGenericAllocationHandle_t*, void*, hipMemAllocationHandleType) =
      hipMemImportFromShareableHandle;
  hipError_t (*reserve)(void**, size_t, size_t, void*, unsigned long long) = hipMemAddressReserve;
  hipError_t (*map)(void*, size_t, size_t, hipMemGenericAllocationHandle_t, unsigned long long) = hipMemMap;
  hipError_t (*access)(void*, size_t, const hipMemAccessDesc*, size_t) = hipMemSetAccess;
  hipError_t (*unmap)(void*, size_t) = hipMemUnmap;
  hipError_t (*release)(hipMemGenericAllocationHandle_t) = hipMemRelease;
  hipError_t (*free)(void*, size_t) = hipMemAddressFree;
  return sizeof(create) + sizeof(export) + sizeof(import) + sizeof(reserve) + sizeof(map) + sizeof(access) +
                 sizeof(unmap) + sizeof(release) + sizeof(free) == 0;
}
"""


def test_what_one_mapping_writes_the_other_reads():
    made = make_arena("cpu", 100)
    made.tensor(8, torch.float32, [3]).copy_(torch.tensor([1.0, 2.0, 3.0]))
    opened = Arena("cpu", made.fd, made.size, writable=False)
    assert opened.tensor(8, torch.float32, [3]).tolist() == [1.0, 2.0, 3.0]
    os.close(made.fd)
    assert opened.tensor(8, torch.float32, [3]).tolist() == [1.0, 2.0, 3.0]  # the mapping lasts
    with pytest.raises(ValueError, match="lies outside"):
        opened.tensor(96, torch.float32, [3])


def test_a_read_only_mapping_cannot_be_written():
    made = make_arena("cpu", 64)
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        Arena("cpu", made.fd, made.size, writable=False).bytes.zero_()
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_an_absent_driver_is_an_error_of_the_system():
    with pytest.raises(OSError, match="libnothing"):
        device_memory.DriverMemory("libnothing.so", "no").allocate(1)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not on PATH")
@pytest.mark.skipif(
    not HIP.exists(),
    reason="no HIP headers; `apt-get download libamdhip64-dev && dpkg -x libamdhip64-dev_*.deb DIR` and "
    "PRAGMA_HIP_INCLUDE=DIR/usr/include (170 KB; installing the package also brings some 80 MB of libraries)",
)
def test_the_structs_are_those_of_hips_headers(tmp_path):
    (tmp_path / "hip.c").write_text(PROGRAM)
    flags = ["-D__HIP_PLATFORM_HCC__", "-D__HIP_PLATFORM_AMD__", f"-I{HEADERS}", "-c", "-Werror=incompatible-pointer-types"]
    linked = ["-Wl,--unresolved-symbols=ignore-all", "-o", str(tmp_path / "hip")]
    subprocess.run(["gcc", *flags, str(tmp_path / "hip.c"), "-o", str(tmp_path / "hip.o")], check=True)
    subprocess.run(["gcc", str(tmp_path / "hip.o"), *linked], check=True)
    said = subprocess.run([str(tmp_path / "hip")], capture_output=True, text=True, check=True).stdout
    facts = {words[0]: list(map(int, words[1:])) for words in map(str.split, said.splitlines())}
    assert facts["constants"] == [
        device_memory._PINNED, device_memory._ON_DEVICE, device_memory._POSIX_FD,
        device_memory._READ, device_memory._READ_WRITE,
    ]  # fmt: skip
    assert facts["out_of_memory"] == [device_memory._OUT_OF_MEMORY]
    access, location = device_memory._Access, device_memory._Location
    assert facts["access"] == [ctypes.sizeof(access), access.location.offset, access.flags.offset]
    assert facts["location"] == [ctypes.sizeof(location), location.type.offset, location.id.offset]
    if facts["version"][0] >= FIELDS_SINCE:
        wanted = device_memory._Properties
        assert facts["properties"] == [ctypes.sizeof(wanted), wanted.type.offset, wanted.location.offset]
