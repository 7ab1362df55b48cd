module own-ab

go 1.21
