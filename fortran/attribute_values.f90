! SPDX-License-Identifier: BSD-3-Clause
!
! Values of attributes on their way to C, for datasets and streams. The value is polymorphic, not assumed-type like
! arrays of data, because only so gfortran 12 keeps the length of literals and other text expressions, the usual
! values of attributes. Each kind has to be named once for the C side to see its descriptor.
module shoal_attribute_values
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_ptr
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use shoal_c, only: f_put_att
  implicit none
  private
  public :: put_list, put_scalar

  integer(c_int), parameter, public :: to_dataset = 1, to_streams = 2  ! whose handle it is (calls.h)

contains

  integer(c_int) function put_scalar(to, handle, of, name, value) result(code)
    integer(c_int), intent(in) :: to
    type(c_ptr), intent(in) :: handle
    character(kind=c_char, len=*), intent(in) :: of, name  ! zero-ended
    class(*), intent(in) :: value
    select type (value)
    type is (character(*)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int8)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int16)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int32)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int64)); code = f_put_att(to, handle, of, name, value)
    type is (real(real32)); code = f_put_att(to, handle, of, name, value)
    type is (real(real64)); code = f_put_att(to, handle, of, name, value)
    type is (logical); code = f_put_att(to, handle, of, name, value)
    class default; code = f_put_att(to, handle, of, name, (0.0, 0.0))  ! refused there, with the message
    end select
  end function put_scalar

  integer(c_int) function put_list(to, handle, of, name, value) result(code)
    integer(c_int), intent(in) :: to
    type(c_ptr), intent(in) :: handle
    character(kind=c_char, len=*), intent(in) :: of, name
    class(*), intent(in) :: value(:)
    select type (value)
    type is (character(*))
      block  ! gfortran 12 loses the distance between the elements of value, but not of a copy
        character(len=len(value)) :: texts(size(value))
        texts = value
        code = f_put_att(to, handle, of, name, texts)
      end block
    type is (integer(int8)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int16)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int32)); code = f_put_att(to, handle, of, name, value)
    type is (integer(int64)); code = f_put_att(to, handle, of, name, value)
    type is (real(real32)); code = f_put_att(to, handle, of, name, value)
    type is (real(real64)); code = f_put_att(to, handle, of, name, value)
    type is (logical); code = f_put_att(to, handle, of, name, value)
    class default; code = f_put_att(to, handle, of, name, (0.0, 0.0))
    end select
  end function put_list
end module shoal_attribute_values
