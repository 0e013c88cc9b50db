! Text: attributes and variables of 0 to 3 dimensions, of lengths that are not those of the file.
program text
  use pio
  use pio_test
  implicit none
  integer :: f
  call begin()
  do f = 1, nformats
    call attributes(f)
    call variables(f)
    call bytes(f)
    call rows(f)
  end do
  call finish()

contains

  subroutine attributes(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v
    character(len=8) :: short, padded
    character(len=40) :: long
    character(len=:), allocatable :: any_length
    integer(PIO_OFFSET_KIND) :: length
    integer :: number
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("text_atts", f), modes(f)), "createfile")
    call ok(PIO_def_var(file, "v", PIO_int, v), "def_var")
    padded = "four"
    call ok(PIO_put_att(file, v, "padded", padded), "put_att padded")
    call ok(PIO_put_att(file, v%varid, "literal  ", value="ten letter"), "put_att literal")
    call ok(PIO_put_att(file%fh, PIO_global, "joined", trim(padded) // "-" // padded), "put_att joined")
    call ok(PIO_put_att(file, PIO_global, "blank", "   "), "put_att blank")
    call ok(PIO_put_att(file, PIO_global, "number", 5), "put_att number")
    call ok(PIO_enddef(file), "enddef")
    call ok(PIO_inq_attlen(file, v, "padded", length), "inq_attlen")
    call is(int(length), 4, "trailing blanks are cut")
    call ok(PIO_get_att(file, v, "padded", long), "get_att padded")
    call check(long == "four", "padded: '" // trim(long) // "'")
    call ok(PIO_get_att(file, v%varid, "literal", long), "get_att literal")
    call check(long == "ten letter", "literal")
    call ok(PIO_get_att(file%fh, PIO_global, "joined", long), "get_att joined")
    call check(long == "four-four", "joined")
    long = "x"
    call ok(PIO_get_att(file, PIO_global, "blank", long), "get_att blank")
    call check(long == " ", "blank")
    allocate (character(len=10) :: any_length)
    call ok(PIO_get_att(file, v, "literal", any_length), "get_att allocatable")
    call check(any_length == "ten letter", "allocatable")
    call PIO_seterrorhandling(ios, PIO_bcast_error)
    call is(PIO_get_att(file, v, "literal", short), PIO_ests, "a text that is too short")
    call check(short == "ten lett", "what fits: '" // short // "'")
    call is(PIO_get_att(file, v, "literal", number), -56, "text into a number")
    call is(PIO_get_att(file, PIO_global, "number", short), -56, "a number into text")
    call is(PIO_get_att(file, v, "none", short), PIO_enotatt, "no such attribute")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_closefile(file)
  end subroutine attributes

  subroutine variables(f)
    integer, intent(in) :: f
    type(file_desc_t) :: file
    type(var_desc_t) :: v0, v1, v2, v3, t1
    character(len=10) :: one, words(4), table(2, 3), cube(2, 2, 2)
    character(len=6) :: narrow(4)
    character(len=14) :: wide(4)
    character(len=10), pointer :: some(:)
    character :: letters(10), all_letters(40)
    integer :: letter, n4, n2, n3, time, i
    words = [character(len=10) :: "alpha", "", "gamma ray", "0123456789"]
    table = reshape(words([1, 3, 1, 4, 4, 3]), [2, 3])
    cube = reshape(words([1, 2, 3, 4, 4, 3, 2, 1]), [2, 2, 2])
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("text", f), modes(f)), "createfile")
    call ok(PIO_def_dim(file, "letters", 10, letter), "letters")
    call ok(PIO_def_dim(file, "n4", 4, n4), "n4")
    call ok(PIO_def_dim(file, "n2", 2, n2), "n2")
    call ok(PIO_def_dim(file, "n3", 3, n3), "n3")
    call ok(PIO_def_dim(file, "time", PIO_unlimited, time), "time")
    call ok(PIO_def_var(file, "v0", PIO_char, [letter], v0), "v0")
    call ok(PIO_def_var(file, "v1", PIO_char, [letter, n4], v1), "v1")
    call ok(PIO_def_var(file, "v2", PIO_char, [letter, n2, n3], v2), "v2")
    call ok(PIO_def_var(file, "v3", PIO_char, [letter, n2, n2, n2], v3), "v3")
    call ok(PIO_def_var(file, "t1", PIO_char, [letter, time], t1), "t1")
    call ok(PIO_enddef(file), "enddef")
    call ok(PIO_put_var(file, v0, "a word"), "put 0d literal")
    call ok(PIO_put_var(file, v1, words), "put 1d")
    call ok(PIO_put_var(file, v2%varid, table), "put 2d")
    call ok(PIO_put_var(file, v3, cube), "put 3d")
    ! Dates of records, one by one and two at once.
    call ok(PIO_put_var(file, t1, [1, 1], [10, 1], "2000-01-01"), "put record")
    call ok(PIO_put_var(file, t1%varid, [1, 2], [10, 2], [character(len=10) :: "2000-01-02", "later"]), "put records")

    call get_one(file, v0, "a word")
    call check_words(file, v1, words, "words")
    do i = 1, 4
      narrow(i) = "******"
      wide(i) = "**************"
    end do
    call ok(PIO_get_var(file, v1, narrow), "get shorter")
    call check(all(narrow == words(:)(:6)), "cut")
    call ok(PIO_get_var(file, v1%varid, wide), "get longer")
    call check(all(wide == words), "padded")
    table = "?"
    call ok(PIO_get_var(file, v2, table), "get 2d")
    call check(all(table == reshape(words([1, 3, 1, 4, 4, 3]), [2, 3])), "table")
    cube = "?"
    call ok(PIO_get_var(file, v3%varid, cube), "get 3d")
    call check(all(cube == reshape(words([1, 2, 3, 4, 4, 3, 2, 1]), [2, 2, 2])), "cube")
    allocate (some(8))
    some = "?"
    call ok(PIO_get_var(file, v1, some(1:8:2)), "get a section")
    call check(all(some(1:8:2) == words) .and. all(some(2:8:2) == "?"), "section")
    deallocate (some)
    call ok(PIO_get_var(file, v1, [1, 3], [10, 2], words(1:2)), "get two")
    call check(words(1) == "gamma ray" .and. words(2) == "0123456789", "two of four")
    call ok(PIO_get_var(file, t1, [1, 2], [10, 1], one), "get record")
    call check(one == "2000-01-02", "second record: " // one)
    call ok(PIO_get_var(file, t1%varid, [1, 3], one), "get by index")
    call check(one == "later", "third record: " // one)
    call ok(PIO_get_var(file, v1, [3], one), "get by the number of the text")
    call check(one == "gamma ray", "third text: " // one)
    ! Single characters.
    letters = "?"
    call ok(PIO_get_var(file, v0, letters), "get letters")
    call check(letters(1) == "a" .and. letters(3) == "w" .and. letters(7) == " ", "letters")
    all_letters = "?"
    call ok(PIO_get_var(file, v1%varid, all_letters), "get all letters")
    call check(all_letters(1) == "a" .and. all_letters(21) == "g" .and. all_letters(40) == "9", "all letters")

    ! One text of a list, shorter and longer than the dimension.
    call ok(PIO_put_var(file, v1, index=[1, 2], ival="new"), "put by index")
    call ok(PIO_put_var(file, v1%varid, [4], "longer than ten letters"), "put by the number of the text")
    call ok(PIO_get_var(file, v1, words), "get again")
    call check(words(2) == "new" .and. words(4) == "longer tha", "put by index")
    call ok(PIO_put_var(file, v0, [character :: "l", "e", "t", "t", "e", "r", "w", "i", "s", "e"]), "put letters")
    call get_one(file, v0, "letterwise")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call is(PIO_put_var(file, v0, 5), -56, "a number into text")
    call is(PIO_get_var(file, v1, words(:1)), PIO_einval, "too few texts")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_closefile(file)
  end subroutine variables

  subroutine get_one(file, v, wanted)
    type(file_desc_t), intent(inout) :: file
    type(var_desc_t), intent(in) :: v
    character(len=*), intent(in) :: wanted
    character(len=5) :: short
    character(len=30) :: long
    call ok(PIO_get_var(file, v, short), "get a short text")
    call check(short == wanted(:5), "short: '" // short // "'")
    call ok(PIO_get_var(file, v%varid, long), "get a long text")
    call check(long == wanted, "long: '" // trim(long) // "'")
  end subroutine get_one

  subroutine check_words(file, v, words, what)
    type(file_desc_t), intent(inout) :: file
    type(var_desc_t), intent(in) :: v
    character(len=*), intent(in) :: words(:), what
    character(len=len(words)) :: found(size(words))
    found = "?"
    call ok(PIO_get_var(file, v, found), "get " // what)
    call check(all(found == words), what)
  end subroutine check_words

  ! A text at an index is put with its own letters, blanks at its end as zero bytes; the rest of the row stays.
  subroutine rows(f)
    integer, intent(in) :: f
    character(len=20), parameter :: letters = "ABCDEFGHIJKLMNOPQRST"
    type(file_desc_t) :: file
    type(var_desc_t) :: v2, v3, t
    character(len=20) :: pair(2), cube(2, 2), row
    character :: bytes(20, 2)
    integer :: x, two, time, number
    pair = letters
    cube = letters
    call ok(PIO_createfile(ios, file, iotypes(f), file_name("rows", f), modes(f)), "createfile")
    call ok(PIO_def_dim(file, "x", 20, x), "x")
    call ok(PIO_def_dim(file, "two", 2, two), "two")
    call ok(PIO_def_dim(file, "time", PIO_unlimited, time), "time")
    call ok(PIO_def_var(file, "v2", PIO_char, [x, two], v2), "v2")
    call ok(PIO_def_var(file, "v3", PIO_char, [x, two, two], v3), "v3")
    call ok(PIO_def_var(file, "t", PIO_char, [x, time], t), "t")
    call ok(PIO_enddef(file), "enddef")
    call ok(PIO_put_var(file, v2, pair), "put v2")
    call ok(PIO_put_var(file, v3, cube), "put v3")
    call ok(PIO_put_var(file, t, pair), "put t")
    call ok(PIO_put_var(file, v2, [6, 2], "-five"), "put at an index")
    call ok(PIO_put_var(file, v3%varid, [1, 2, 1], "xyz"), "put at an index of three")
    call ok(PIO_put_var(file, v3, [1, 2], "by number"), "put by the number of the text")
    call ok(PIO_put_var(file, t, [19, 2], "longer"), "put more than the row has")
    ! Only the length that `base` gives counts, and nothing is nothing.
    call ok(PIO_put_var(file, v3, [3, 2, 2], repeat("z", 1 + 3 * rank)), "put texts of other lengths")
    call ok(PIO_put_var(file, v3, [1, 1, 2], repeat("z", 3 * rank)), "put nothing")
    call ok(PIO_put_var(file, t, [1, 2], repeat("z", 3 * rank)), "put nothing to a record")
    call ok(PIO_put_var(file, t, [1, 7], repeat("z", rank)), "put nothing behind the last record")
    call PIO_syncfile(file)
    call ok(PIO_inq_dimlen(file, time, number), "inq_dimlen")
    call is(number, 2, "records after a put of nothing")
    call ok(PIO_get_var(file, v2, pair), "get v2")
    call check(pair(1) == letters .and. pair(2) == "ABCDE-fiveKLMNOPQRST", "v2: " // pair(1) // " " // pair(2))
    call ok(PIO_get_var(file, v3, cube), "get v3")
    call check(cube(1, 1) == letters .and. cube(2, 1) == "xyzDEFGHIJKLMNOPQRST" .and. &
        cube(1, 2) == "by numberJKLMNOPQRST" .and. &
        cube(2, 2) == "ABzDEFGHIJKLMNOPQRST", "v3: " // cube(2, 1) // " " // cube(1, 2) // " " // cube(2, 2))
    call ok(PIO_get_var(file, t, pair), "get t")
    call check(pair(1) == letters .and. pair(2) == "ABCDEFGHIJKLMNOPQRlo", "t: " // pair(2))
    call ok(PIO_get_var(file, v2, [6, 2], row), "get at an index")
    call check(row == "-fiveKLMNOPQRST", "the rest of a row: " // row)
    call ok(PIO_put_var(file, v2, [2, 1], "b  "), "put with blanks at the end")
    call ok(PIO_get_var(file, v2, bytes), "get letters")
    call check(bytes(2, 1) == "b" .and. bytes(3, 1) == " " .and. bytes(4, 1) == " " .and. bytes(5, 1) == "E", &
        "blanks at the end")
    call PIO_seterrorhandling(ios, PIO_return_error)
    call is(PIO_put_var(file, v2, [21, 1], "x"), -40, "an index behind the row")
    call is(PIO_get_var(file, v2, [0, 1], row), -40, "an index before the row")
    call PIO_seterrorhandling(ios, PIO_internal_error)
    call PIO_closefile(file)
  end subroutine rows

  ! What is in the file, read by Shoal itself: trailing blanks are zero bytes, a blank text of a list has one blank.
  subroutine bytes(f)
    use shoal
    integer, intent(in) :: f
    type(shoal_dataset) :: file
    character :: found(10, 4)
    call file%open(file_name("text", f), MPI_COMM_WORLD)
    call file%get("v1", found)
    call check(found(1, 2) == "n" .and. found(4, 2) == achar(0) .and. found(10, 2) == achar(0), "padded by zero bytes")
    call check(found(6, 1) == achar(0) .and. found(5, 1) == "a", "end of the first text")
    call file%close()
    call file%open(file_name("text", f), MPI_COMM_WORLD)
    call blank(file)
    call file%close()
  end subroutine bytes

  subroutine blank(file)
    use shoal
    type(shoal_dataset), intent(inout) :: file
    character :: found(10, 2, 2, 2)
    call file%get("v3", found)
    call check(found(1, 2, 1, 1) == " " .and. found(2, 2, 1, 1) == achar(0), "a blank text")
  end subroutine blank
end program text
