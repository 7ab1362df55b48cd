// Items of a table, over HTTP: gin and gorm. DSN says where the database is, PORT where to listen.
package main

import (
	"log"
	"os"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Pool is how many connections to the database there are, as in the other services.
const Pool = 20

type Item struct {
	ID    int64  `gorm:"primaryKey" json:"id"`
	Name  string `json:"name"`
	Price int64  `json:"price"`
	Note  string `json:"note"`
}

func (Item) TableName() string { return "item" }

func main() {
	quiet := &gorm.Config{Logger: logger.Default.LogMode(logger.Silent)}
	db, err := gorm.Open(postgres.Open(os.Getenv("DSN")), quiet)
	if err != nil {
		log.Fatal(err)
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatal(err)
	}
	pool.SetMaxOpenConns(Pool)
	pool.SetMaxIdleConns(Pool)
	router := routes(db, os.Getenv("IN_TURN") != "")
	log.Fatal(router.Run("127.0.0.1:" + os.Getenv("PORT")))
}
